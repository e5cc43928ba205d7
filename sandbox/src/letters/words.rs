//! The texts of letters, in French and in English. They are about nobody.

/// All words of one language.
pub(super) struct Language {
    pub code: &'static str,
    pub months: [&'static str; 12],
    /// `{town}` and `{date}`.
    pub dateline: &'static str,
    pub foot: &'static str,
    pub dentist: &'static str,
    pub patient: &'static str,
    pub born: &'static str,
    pub unnamed: &'static str,
    pub picture: &'static str,
    pub greeting: &'static str,
    /// Type, title and first sentence. The last one is for documents without a known type.
    pub openings: &'static [(&'static str, &'static str, &'static str)],
    /// Some of these follow. `{tooth}` stands for a tooth by its FDI number.
    pub sentences: &'static [&'static str],
}

impl Language {
    /// The title and the first sentence of a letter of this type.
    pub fn opening(&self, document_type: Option<&str>) -> (&'static str, &'static str) {
        let known = self.openings.iter().find(|(known, ..)| Some(*known) == document_type);
        known.or(self.openings.last()).map_or(("", ""), |(_, title, sentence)| (*title, *sentence))
    }
}

#[rustfmt::skip]
pub(super) static FRENCH: Language = Language {
    code: "fr",
    months: [
        "janvier", "février", "mars", "avril", "mai", "juin",
        "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    ],
    dateline: "{town}, le {date}",
    foot: "Document d'essai : personnes, cabinets et soins sont inventés.",
    dentist: "Chirurgien-dentiste",
    patient: "Patient(e)",
    born: "Né(e) le",
    unnamed: "(sans nom)",
    picture: "Cliché panoramique (image de synthèse).",
    greeting: "Je vous prie d'agréer l'expression de mes salutations distinguées.",
    openings: &[
        ("operative_report", "Compte rendu opératoire", "Voici le compte rendu de l'intervention réalisée ce jour sous anesthésie locale."),
        ("referral_letter", "Objet : demande d'avis spécialisé", "Je vous adresse la personne nommée ci-dessus pour avis et prise en charge."),
        ("cone_beam_report", "Compte rendu d'examen cone beam (CBCT)", "Examen réalisé en champ réduit, voxel de 150 µm."),
        ("patient_letter", "Objet : votre plan de traitement", "Vous trouverez ci-dessous un résumé de nos échanges et des soins proposés."),
        ("prescription", "Ordonnance", "Amoxicilline 1 g, un comprimé matin et soir pendant 7 jours. Paracétamol 1 g en cas de douleur."),
        ("initial_medical_certificate", "Certificat médical initial", "Je certifie avoir examiné ce jour la personne nommée ci-dessus, qui déclare une chute."),
        ("attendance_certificate", "Attestation de présence", "Je certifie que la personne nommée ci-dessus s'est présentée au cabinet ce jour."),
        ("contraindication_certificate", "Certificat de contre-indication", "L'état bucco-dentaire contre-indique la natation et la plongée pendant quinze jours."),
        ("lab_slip", "Bon de commande au laboratoire", "Merci de bien vouloir réaliser une couronne zircone stratifiée, teinte A3, collet A3,5."),
        ("endo_report", "Compte rendu endodontique", "Le traitement endodontique pour lequel vous m'avez confié cette personne est achevé."),
        ("ortho_letter", "Objet : courrier d'orthodontie", "J'ai reçu en consultation orthodontique la personne nommée ci-dessus."),
        ("", "Objet : votre consultation", "Veuillez trouver ci-dessous les éléments relatifs à la consultation."),
    ],
    sentences: &[
        "Le motif de consultation est une douleur provoquée au froid au niveau de la {tooth}.",
        "Les antécédents médicaux ne relèvent aucune allergie connue ni traitement anticoagulant.",
        "La percussion axiale de la {tooth} est positive, le test de sensibilité au froid est exacerbé.",
        "Le sondage parodontal ne dépasse pas 3 mm, à l'exception d'une poche distale de 5 mm.",
        "Le cliché montre une image radioclaire périapicale d'environ 4 mm en regard de la {tooth}.",
        "Le sinus maxillaire est bien aéré, avec un léger épaississement de la membrane de Schneider.",
        "L'hémostase a été obtenue par compression et mise en place d'une éponge de collagène.",
        "Les sutures ont été réalisées au fil résorbable 4/0 par points séparés.",
        "Un contrôle est prévu dans huit jours pour l'évaluation de la cicatrisation.",
        "Je reste à votre disposition pour tout renseignement complémentaire.",
    ],
};

#[rustfmt::skip]
pub(super) static ENGLISH: Language = Language {
    code: "en",
    months: [
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ],
    dateline: "{town}, {date}",
    foot: "Test document: people, practices and treatments are invented.",
    dentist: "Dental surgeon",
    patient: "Patient",
    born: "Born on",
    unnamed: "(no name)",
    picture: "Panoramic radiograph (computer-generated).",
    greeting: "Yours sincerely,",
    openings: &[
        ("operative_report", "Operative report", "This is the report on the procedure carried out today under local anaesthesia."),
        ("referral_letter", "Re: referral for a specialist opinion", "I would like to refer the person named above to you for an opinion and treatment."),
        ("cone_beam_report", "Cone beam CT report", "Small field of view, voxel size 150 µm."),
        ("patient_letter", "Re: your treatment plan", "You will find below a summary of what we discussed and of the treatment proposed."),
        ("prescription", "Prescription", "Amoxicillin 1 g, one tablet in the morning and in the evening for 7 days. Paracetamol 1 g for pain."),
        ("initial_medical_certificate", "Initial medical certificate", "I certify that I examined today the person named above, who reports a fall."),
        ("attendance_certificate", "Certificate of attendance", "I certify that the person named above attended this practice today."),
        ("contraindication_certificate", "Certificate of contraindication", "The oral health does not allow swimming and diving for fifteen days."),
        ("lab_slip", "Laboratory slip", "Please make a layered zirconia crown, shade A3, cervical A3.5."),
        ("endo_report", "Endodontic report", "The root canal treatment for which you referred this person is complete."),
        ("ortho_letter", "Re: orthodontic letter", "I saw the person named above for an orthodontic consultation."),
        ("", "Re: your consultation", "Please find below what concerns the consultation."),
    ],
    sentences: &[
        "The reason for the visit is pain provoked by cold at tooth {tooth}.",
        "The medical history shows no known allergy and no anticoagulant.",
        "Percussion of tooth {tooth} is positive, the response to cold is exaggerated.",
        "Probing depths do not exceed 3 mm, except for a distal pocket of 5 mm.",
        "The radiograph shows a periapical radiolucency of about 4 mm at tooth {tooth}.",
        "The maxillary sinus is clear, with slight thickening of its membrane.",
        "Bleeding was controlled by compression and a collagen sponge.",
        "Sutures were placed with resorbable 4/0 thread.",
        "A review is planned in eight days to assess healing.",
        "Please do not hesitate to contact me for any further information.",
    ],
};
