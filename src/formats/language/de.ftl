# Alles, was docsyncd den Leuten der Praxis sagt, auf Deutsch. en.ftl hat dieselben Schlüssel mit denselben Variablen: Ein Test
# prüft das. „Briefe“ sind alle Dokumente. Nach einem Doppelpunkt beginnt ein ganzer Satz groß: darum auch `why-…`.

## Zeiten und Zahlen

month = { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
}
at-today = um { $time } Uhr
at-day = am { $day }. { $month } um { $time } Uhr
at-year = am { $day }. { $month } { $year } um { $time } Uhr
since-today = seit { $time } Uhr
since-day = seit dem { $day }. { $month }, { $time } Uhr
since-year = seit dem { $day }. { $month } { $year }, { $time } Uhr
date = { $day }. { $month } { $year }
letters = { $count ->
    [0] kein Brief
    [one] 1 Brief
   *[other] { $count } Briefe
}
and-more = { $names } und { $more } weitere

## Der erste Satz

well-none = Alles in Ordnung: heute noch kein Brief.
well-some = Alles in Ordnung: { $count ->
    [one] heute 1 Brief, { $last }.
   *[other] heute { $count } Briefe, der letzte { $last }.
}
well-last = Alles in Ordnung: heute noch kein Brief, der letzte kam { $last }.
well-open = { $count ->
    [one] 1 weiterer ist unterwegs.
   *[other] { $count } weitere sind unterwegs.
}
not-running = docsyncd läuft nicht: Es werden keine Briefe abgelegt. Starten Sie den Dienst.
not-running-last = docsyncd läuft nicht: Es werden keine Briefe abgelegt. Der letzte kam { $last }. Starten Sie den Dienst.
moved = Die Datenbank ist { $at } auf einen anderen Computer umgezogen: docsyncd legt hier keine Briefe mehr ab.
others = { $count ->
    [one] Es gibt noch ein weiteres Problem.
   *[other] Es gibt noch { $count } weitere Probleme.
}
next-poll = docsyncd fragt { $at } wieder nach neuen Briefen.
next-poll-soon = docsyncd fragt { $seconds ->
    [0] sofort
    [one] in 1 Sekunde
   *[other] in { $seconds } Sekunden
} wieder nach neuen Briefen.
sum = Instanzen: { $instances }. Briefe heute: { $today }. Warten noch: { $waiting }. Fehlgeschlagen: { $failed }.
light-well = Alles in Ordnung
light-waiting = Etwas wartet
light-shut = Briefe können gerade nicht abgelegt werden
light-needs-person = Jemand muss eingreifen
light-not-running = Läuft nicht

## Was nicht stimmt.

waiting = { $count ->
    [one] 1 Brief wartet { $since }: { $why }.
   *[other] { $count } Briefe warten { $since }: { $why }.
}
waiting-none = { $since }: { $why }.
subject-waiting = { $count ->
    [one] 1 Brief wartet: { $why }
   *[other] { $count } Briefe warten: { $why }
}

why-ledger = docsyncd kann seine Daten nicht speichern
do-ledger = Rufen Sie Ihre IT an: docsyncd kann auf dem Datenträger, auf dem { $place } liegt, nichts speichern. Vielleicht ist er voll oder defekt, oder ein anderes Programm (Datensicherung, Virenscanner) hält die Dateien von docsyncd offen.
it-ledger = Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt, prüfen Sie, ob er funktioniert, und beenden Sie Programme, die die Datenbank offen halten (Datensicherung, Virenscanner).
over-ledger = docsyncd kann seine Daten wieder speichern.

why-disk = docsyncd kann heruntergeladene Briefe nicht speichern
do-disk = Rufen Sie Ihre IT an: Der Datenträger, auf dem { $place } liegt, ist voll oder defekt. Ist das behoben, klicken Sie auf „{ page-mended }“.
it-disk = Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt, und prüfen Sie, ob er funktioniert.
over-disk = docsyncd kann heruntergeladene Briefe wieder speichern.

why-sign-in = { $names ->
    [one] Das Konto { $name } muss neu angemeldet werden
   *[other] { $names } Konten müssen neu angemeldet werden ({ $name })
}
do-sign-in = { $names ->
    [one] Rufen Sie Ihre IT an: Jemand muss das Konto { $name } neu anmelden.
   *[other] Rufen Sie Ihre IT an: Jemand muss jedes dieser Konten neu anmelden ({ $name }).
}
it-sign-in = { $names ->
    [one] Führen Sie aus: docsyncd login --account { $name }
   *[other] Führen Sie für jedes aus: docsyncd login --account NAME
}
over-sign-in = { $names ->
    [one] Das Konto { $name } ist wieder angemeldet.
   *[other] { $names } Konten sind wieder angemeldet ({ $name }).
}

why-api-key = { $names ->
    [one] Der Schlüssel des Kontos { $name } wird abgelehnt oder ist nicht lesbar
   *[other] Die Schlüssel von { $names } Konten werden abgelehnt oder sind nicht lesbar ({ $name })
}
do-api-key = { $names ->
    [one] Rufen Sie Ihre IT an: Das Konto { $name } braucht einen neuen Schlüssel.
   *[other] Rufen Sie Ihre IT an: Diese Konten brauchen neue Schlüssel ({ $name }).
}
it-api-key = { $places ->
    [0] Legen Sie einen gültigen Schlüssel in die Datei, die api_key_file nennt
   *[other] Legen Sie einen gültigen Schlüssel in { $place }
}, und führen Sie dann aus: docsyncd check
over-api-key = { $names ->
    [one] Der Schlüssel des Kontos { $name } funktioniert wieder.
   *[other] Die Schlüssel von { $names } Konten funktionieren wieder ({ $name }).
}

why-not-allowed = { $names ->
    [one] Dem Konto { $name } fehlt ein Recht, Briefe zu lesen oder zurückzumelden
   *[other] { $names } Konten fehlt ein Recht, Briefe zu lesen oder zurückzumelden ({ $name })
}
do-not-allowed = Rufen Sie Ihre IT an: Der Betreiber des Dienstes muss ein fehlendes Recht erteilen.
it-not-allowed = Bitten Sie den Betreiber des Dienstes um das fehlende Recht, und führen Sie dann aus: docsyncd check
over-not-allowed = { $names ->
    [one] Das Konto { $name } kann weitermachen.
   *[other] { $names } Konten können weitermachen ({ $name }).
}

why-host-key = { $names ->
    [one] Der Server des Ziels { $name } weist sich anders aus als bisher
   *[other] Die Server von { $names } Zielen weisen sich anders aus als bisher ({ $name })
}
do-host-key = Rufen Sie Ihre IT an: Vielleicht ist es ein anderer Server als bisher. Kein Brief geht dorthin, bis das geprüft ist.
it-host-key = Fragen Sie die Person, die den Server betreut, ob sein Schlüssel geändert wurde. Wenn nicht, fängt vielleicht jemand die Verbindung ab: Legen Sie dort nichts ab. Wenn ja, tragen Sie den neuen Fingerabdruck als `host_key` ein.
over-host-key = { $names ->
    [one] Der Server des Ziels { $name } weist sich wieder aus wie bisher.
   *[other] Die Server von { $names } Zielen weisen sich wieder aus wie bisher ({ $name }).
}

why-destination-sign-in = { $names ->
    [one] Das Ziel { $name } lehnt Benutzer oder Passwort ab, oder deren Datei ist nicht lesbar
   *[other] { $names } Ziele lehnen Benutzer oder Passwort ab, oder deren Datei ist nicht lesbar ({ $name })
}
do-destination-sign-in = Rufen Sie Ihre IT an: Vielleicht wurde dort das Passwort geändert. Ist das behoben, klicken Sie auf „{ page-mended }“.
it-destination-sign-in = Berichtigen Sie Benutzer und Passwort des Ziels, oder machen Sie deren Datei lesbar, und führen Sie dann aus: docsyncd check
over-destination-sign-in = { $names ->
    [one] Das Ziel { $name } nimmt Benutzer und Passwort wieder an.
   *[other] { $names } Ziele nehmen Benutzer und Passwort wieder an ({ $name }).
}

why-destination-full = { $names ->
    [one] Das Ziel { $name } ist voll
   *[other] { $names } Ziele sind voll ({ $name })
}
do-destination-full = { $places ->
    [0] Schaffen Sie dort Platz
   *[other] Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt
}, und klicken Sie dann auf „{ page-mended }“. Nichts geht verloren: Was wartet, wird dann abgelegt.
it-destination-full = { $places ->
    [0] Schaffen Sie dort Platz.
   *[other] Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt.
} Nichts geht verloren: Was wartet, wird dann abgelegt.
over-destination-full = { $names ->
    [one] Das Ziel { $name } hat wieder Platz.
   *[other] { $names } Ziele haben wieder Platz ({ $name }).
}

problem-failed = { $count ->
    [one] 1 Brief konnte nicht abgelegt werden ({ $since }).
   *[other] { $count } Briefe konnten nicht abgelegt werden ({ $since }).
}
do-failed = Die Seite sagt unter „{ page-failed-title }“, warum. Ist die Ursache behoben, klicken Sie auf „{ page-mended }“.
it-failed = Warum, sehen Sie hier: docsyncd list --state failed. Ist die Ursache behoben, versuchen Sie es erneut: docsyncd retry --failed
subject-failed = { $count ->
    [one] 1 Brief konnte nicht abgelegt werden
   *[other] { $count } Briefe konnten nicht abgelegt werden
}
over-failed = Es gibt keinen Brief mehr, der nicht abgelegt werden konnte.

problem-unreported = { $count ->
    [one] 1 Brief ist abgelegt, aber der Dienst nimmt die Rückmeldung nicht an ({ $since }).
   *[other] { $count } Briefe sind abgelegt, aber der Dienst nimmt die Rückmeldung nicht an ({ $since }).
}
do-unreported = { $count ->
    [one] Der Brief ist an seinem Platz: Es fehlt nichts.
   *[other] Die Briefe sind an ihrem Platz: Es fehlt nichts.
} Um es dem Dienst erneut zu melden, klicken Sie auf „{ page-mended }“.
it-unreported = Warum, sehen Sie hier: docsyncd list --state unreported. Melden Sie es dann erneut zurück: docsyncd retry --failed
subject-unreported = { $count ->
    [one] 1 Brief ist abgelegt, aber der Dienst nimmt die Rückmeldung nicht an
   *[other] { $count } Briefe sind abgelegt, aber der Dienst nimmt die Rückmeldung nicht an
}
over-unreported = Der Dienst weiß von jedem abgelegten Brief.

problem-unconfirmed = { $count ->
    [one] 1 Brief ist vielleicht angekommen, sicher ist es nicht ({ $since }).
   *[other] { $count } Briefe sind vielleicht angekommen, sicher ist es nicht ({ $since }).
}
do-unconfirmed = { $count ->
    [one] Sehen Sie in der Praxissoftware nach, ob er dort ist. Öffnen Sie dann den Brief auf der Seite
   *[other] Sehen Sie in der Praxissoftware nach, ob sie dort sind. Öffnen Sie dann jeden Brief auf der Seite
}, und klicken Sie auf „{ letter-arrived }“ oder „{ letter-send-again }“.
it-unconfirmed = Sehen Sie dort nach: docsyncd list --state fetched nennt, worum es geht. Was fehlt, senden Sie erneut: docsyncd retry UUID (was da ist: docsyncd retry --arrived UUID)
subject-unconfirmed = { $count ->
    [one] 1 Brief wartet: Ist er angekommen?
   *[other] { $count } Briefe warten: Sind sie angekommen?
}
over-unconfirmed = Alle unsicheren Briefe sind geklärt.

problem-patient-unknown = { $count ->
    [one] Bei 1 Brief ist nicht klar, zu welchem Patienten der Praxis er gehört ({ $since }).
   *[other] Bei { $count } Briefen ist nicht klar, zu welchen Patienten der Praxis sie gehören ({ $since }).
}
do-patient-unknown = Auf der Seite stehen unter „{ page-patients-title }“ die Angaben des Dienstes und der Praxis nebeneinander: Vergleichen Sie, und klicken Sie auf „{ page-assign }“. Ein Patient, der in die Liste kommt, wird von selbst gefunden.
it-patient-unknown = docsyncd list --state fetched nennt sie; docsyncd assign UUID zeigt, wer es sein kann, und docsyncd assign UUID NUMMER legt es fest. Kommt der Patient in die Liste, wird sein Brief von selbst abgelegt.
subject-patient-unknown = { $count ->
    [one] 1 Brief wartet: Welcher Patient?
   *[other] { $count } Briefe warten: Welcher Patient?
}
over-patient-unknown = Alle Briefe sind zugeordnet.

why-patients-file = { $count ->
    [0] Die Patientenliste der Praxis ist nicht verwendbar ({ $reason })
   *[other] Die Patientenliste der Praxis enthält von { $count } wartenden Briefen keinen einzigen Patienten
}
do-patients-file = { $count ->
    [0] Lassen Sie die Liste neu aus der Praxissoftware exportieren. { $goes ->
        [0] Bis dahin warten Briefe, die die Nummer des Patienten brauchen; die anderen werden abgelegt.
       *[other] Bis dahin gilt die vorige Liste: Nur Briefe von Patienten, die seither neu sind, warten.
    }
   *[other] Vergleichen Sie auf der Seite Namen und Geburtsdaten: Vielleicht ist es die Liste einer anderen Praxis, oder die Geburtsdaten sind um einen Tag verschoben. Lassen Sie sie neu exportieren; was wartet, wird dann abgelegt.
}
it-patients-file = { $count ->
    [0] docsyncd check sagt, was daran nicht stimmt ({ $reason }). { $goes ->
        [0] Eine vorige Liste gibt es nicht: Briefe, die die Nummer des Patienten brauchen, warten.
       *[other] Bis sie berichtigt ist oder docsyncd neu startet, gilt die vorige Liste.
    }
   *[other] Vergleichen Sie Namen und Geburtsdaten der Liste mit docsyncd assign UUID: Vielleicht ist es die Liste einer anderen Praxis, oder die Geburtsdaten sind um einen Tag verschoben. Exportieren Sie sie neu; was wartet, wird dann abgelegt.
}
over-patients-file = Die Patientenliste der Praxis ist wieder verwendbar.
list-wrong-missing = ihre Datei ist nicht da
list-wrong-unreadable = docsyncd darf ihre Datei nicht lesen
list-wrong-away = ihre Datei antwortet nicht
list-wrong-written = sie ist vielleicht nicht vollständig: der Export ist nicht zu Ende
list-wrong-short = sie ist leer oder viel kürzer als zuvor
list-wrong-strange = die Nummern der bisher abgelegten Briefe stehen nicht darin
list-wrong-workbook = sie ist eine Excel-Arbeitsmappe und keine CSV-Datei
list-wrong-columns = ihre erste Zeile nennt nicht die nötigen Spalten
list-wrong-letters = Zeile { $row }: Buchstaben sind nicht lesbar
list-wrong-row = Zeile { $row }: sie passt nicht zu den Spalten
list-wrong-number = Zeile { $row }: die Patientennummer ist beschädigt
list-wrong-date = Zeile { $row }: das Geburtsdatum ist nicht lesbar
list-wrong-two-ways = Zeile { $row }: das Datum lässt sich auf zwei Arten lesen, Tag oder Monat zuerst
list-wrong-content = sie ist nicht lesbar

problem-not-taken = { $count ->
    [one] 1 Brief ist abgelegt, aber die Praxissoftware, die { $name } liest, hat ihn nicht übernommen ({ $since }).
   *[other] { $count } Briefe sind abgelegt, aber die Praxissoftware, die { $name } liest, hat sie nicht übernommen ({ $since }).
}
do-not-taken = Prüfen Sie, ob die Praxissoftware läuft und importiert. { $count ->
    [one] Steht der Brief schon in der Akte
   *[other] Steht ein Brief schon in der Akte
}, öffnen Sie ihn auf der Seite, und klicken Sie auf „{ letter-arrived }“.
it-not-taken = Prüfen Sie, ob die Praxissoftware läuft und importiert. docsyncd list --state fetched nennt die Briefe; steht einer schon in der Akte, bestätigen Sie es: docsyncd retry --arrived UUID
subject-not-taken = { $count ->
    [one] 1 Brief ist abgelegt, aber die Praxissoftware, die { $name } liest, hat ihn nicht übernommen
   *[other] { $count } Briefe sind abgelegt, aber die Praxissoftware, die { $name } liest, hat sie nicht übernommen
}
over-not-taken = Die Praxissoftware hat alle Briefe von { $name } übernommen.

problem-not-replaced = { $count ->
    [one] 1 Brief liegt doppelt in der Praxissoftware ({ $since }): eine alte Fassung neben der neuen oder eine Kopie in der Akte eines anderen Patienten.
   *[other] { $count } Briefe liegen doppelt in der Praxissoftware ({ $since }): eine alte Fassung neben der neuen oder eine Kopie in der Akte eines anderen Patienten.
}
do-not-replaced = Öffnen Sie den Brief auf der Seite unter „{ page-beside-title }“: Sie zeigt, wo die alte Kopie liegt. Entfernen Sie sie in der Praxissoftware, und klicken Sie dort dann auf „{ letter-removed }“ oder „{ letter-removed-anothers }“.
it-not-replaced = docsyncd retry nennt die Briefe, docsyncd show UUID zeigt, wo die alte Kopie liegt. Entfernen Sie sie dort, und bestätigen Sie es dann: docsyncd retry --removed UUID.
subject-not-replaced = { $count ->
    [one] 1 Brief liegt doppelt: Entfernen Sie die alte Kopie
   *[other] { $count } Briefe liegen doppelt: Entfernen Sie die alten Kopien
}
over-not-replaced = Keine alte Kopie eines Briefs liegt mehr neben einer neuen.

problem-not-agreeing = { $count ->
    [one] Zu 1 Brief sagen der Dienst, docsyncd und sein Ziel nicht dasselbe ({ $since }).
   *[other] Der Dienst, docsyncd und die Ziele sagen über Briefe nicht dasselbe: { $count } Unterschiede ({ $since }).
}
do-not-agreeing = Rufen Sie Ihre IT an: Jeder Unterschied ist anzusehen. docsyncd legt keinen Brief von sich aus noch einmal ab.
it-not-agreeing = docsyncd reconcile sagt, bei welchen Briefen und worin sie sich unterscheiden; docsyncd reconcile --repair tut, was gefahrlos ist, und fragt, bevor es etwas noch einmal ablegt.
subject-not-agreeing = { $count ->
    [one] 1 Unterschied zwischen Dienst und Praxis
   *[other] { $count } Unterschiede zwischen Dienst und Praxis
}
over-not-agreeing = Der Dienst, docsyncd und die Ziele stimmen bei jedem Brief überein.

why-silence = { $names ->
    [one] docsyncd konnte nicht nach neuen Briefen des Kontos { $name } fragen
   *[other] docsyncd konnte nicht nach neuen Briefen von { $names } Konten fragen ({ $name })
}
do-silence = Prüfen Sie die Internetverbindung dieses Computers. Wenn sie funktioniert, rufen Sie Ihre IT an.
it-silence = Prüfen Sie die Internetverbindung dieses Computers, und führen Sie dann aus: docsyncd check
over-silence = { $names ->
    [one] docsyncd fragt wieder nach neuen Briefen des Kontos { $name }.
   *[other] docsyncd fragt wieder nach neuen Briefen von { $names } Konten ({ $name }).
}

why-slept = Dieser Computer war im Ruhezustand oder ausgeschaltet, daher wurden keine Briefe abgelegt
do-slept = Lassen Sie den Computer eingeschaltet, auch nachts: Schalten Sie den Energiesparmodus aus.
over-slept = docsyncd fragt wieder nach neuen Briefen.

why-destination-program = { $names ->
    [one] Das Programm des Ziels { $name } fehlt oder lässt sich nicht starten
   *[other] Die Programme von { $names } Zielen fehlen oder lassen sich nicht starten ({ $name })
}
do-destination-program = Rufen Sie Ihre IT an: Das Programm, das die Briefe weitergibt, fehlt oder startet nicht.
it-destination-program = Führen Sie aus: docsyncd check. Der Befehl nennt das Programm und was nicht stimmt. Installieren Sie es dort, oder berichtigen Sie `program`.
over-destination-program = { $names ->
    [one] Das Programm des Ziels { $name } lässt sich wieder starten.
   *[other] Die Programme von { $names } Zielen lassen sich wieder starten ({ $name }).
}

why-destination = { $names ->
    [one] Das Ziel { $name } ist nicht erreichbar
   *[other] { $names } Ziele sind nicht erreichbar ({ $name })
}{ $count ->
    [0] , dort kann kein Brief abgelegt werden
   *[other] { "" }
}
do-destination = Prüfen Sie, ob der Computer mit dem Ordner eingeschaltet ist und der Ordner sich öffnen lässt. Klicken Sie dann auf „{ page-mended }“.
it-destination = Prüfen Sie, ob der Computer mit dem Ordner läuft und der Ordner da ist, und führen Sie dann aus: docsyncd check
over-destination = { $names ->
    [one] Das Ziel { $name } ist wieder erreichbar.
   *[other] { $names } Ziele sind wieder erreichbar ({ $name }).
}

why-destination-refuses = { $names ->
    [one] Das Ziel { $name } nimmt keine Briefe an
   *[other] { $names } Ziele nehmen keine Briefe an ({ $name })
}
do-destination-refuses = Die Seite sagt unter „{ page-places }“, warum. Können Sie das nicht beheben, rufen Sie Ihre IT an. Klicken Sie dann auf „{ page-mended }“.
it-destination-refuses = { see-status } Führen Sie dann aus: docsyncd check
over-destination-refuses = { $names ->
    [one] Das Ziel { $name } nimmt wieder Briefe an.
   *[other] { $names } Ziele nehmen wieder Briefe an ({ $name }).
}

why-service = { $names ->
    [one] Der Dienst ist für das Konto { $name } nicht erreichbar oder gestört
   *[other] Der Dienst ist für { $names } Konten nicht erreichbar oder gestört ({ $name })
}
do-service = Prüfen Sie die Internetverbindung dieses Computers. Wenn sie funktioniert, ist der Dienst gestört: docsyncd fragt ihn immer wieder.
over-service = { $names ->
    [one] Der Dienst funktioniert für das Konto { $name } wieder.
   *[other] Der Dienst funktioniert für { $names } Konten wieder ({ $name }).
}

why-service-busy = { $names ->
    [one] Der Dienst bittet das Konto { $name } zu warten
   *[other] Der Dienst bittet { $names } Konten zu warten ({ $name })
}
do-service-busy = Warten Sie: docsyncd macht von selbst weiter, sobald es darf. Bleibt es stundenlang so, fragen Sie den Betreiber des Dienstes nach dem Grund.
over-service-busy = { $names ->
    [one] Der Dienst antwortet dem Konto { $name } wieder.
   *[other] Der Dienst antwortet { $names } Konten wieder ({ $name }).
}

why-downloads = { $names ->
    [one] Der Dienst liefert für das Konto { $name } keine richtigen PDFs
   *[other] Der Dienst liefert für { $names } Konten keine richtigen PDFs ({ $name })
}
do-downloads = Bleibt es länger als eine Stunde so, rufen Sie Ihre IT an: Vielleicht stört etwas zwischen diesem Computer und dem Dienst.
it-downloads = { see-status } Vielleicht stört ein Proxy oder eine Firewall; sonst fragen Sie den Betreiber des Dienstes.
over-downloads = { $names ->
    [one] Der Dienst liefert für das Konto { $name } wieder PDFs.
   *[other] Der Dienst liefert für { $names } Konten wieder PDFs ({ $name }).
}

why-reports = { $names ->
    [one] Der Dienst nimmt keine Rückmeldungen des Kontos { $name } an
   *[other] Der Dienst nimmt keine Rückmeldungen von { $names } Konten an ({ $name })
}
do-reports = Die Briefe sind an ihrem Platz: Es fehlt nichts. Bleibt es länger als einen Tag so, rufen Sie Ihre IT an.
it-reports = Die Briefe sind abgelegt. { see-status } Bleibt es so, fragen Sie den Betreiber des Dienstes.
over-reports = { $names ->
    [one] Der Dienst nimmt wieder Rückmeldungen des Kontos { $name } an.
   *[other] Der Dienst nimmt wieder Rückmeldungen von { $names } Konten an ({ $name }).
}

why-stalled-delivery = { $names ->
    [one] Das Ziel { $name } nimmt andere Briefe an
   *[other] { $names } Ziele nehmen andere Briefe an ({ $name })
}, { $count ->
    [one] diesen
   *[other] diese
} aber noch nicht
do-stalled-delivery = docsyncd versucht es von selbst immer wieder. Die Seite sagt unter „{ page-waiting-title }“, warum.
it-stalled-delivery = Warum, sehen Sie hier: docsyncd list. docsyncd versucht es immer wieder.
over-stalled-delivery = { $names ->
    [one] Kein Brief wartet mehr auf das Ziel { $name }.
   *[other] Kein Brief wartet mehr auf { $names } Ziele ({ $name }).
}

why-stalled = Der Dienst gibt { $count ->
    [one] ihn
   *[other] sie
} noch nicht heraus, oder er nimmt die Rückmeldung noch nicht an ({ $names ->
    [one] Konto { $name }
   *[other] { $names } Konten: { $name }
})
do-stalled = docsyncd versucht es von selbst immer wieder. Die Seite sagt unter „{ page-waiting-title }“, warum.
it-stalled = Warum, sehen Sie hier: docsyncd list. docsyncd versucht es immer wieder.
over-stalled = { $names ->
    [one] Kein Brief des Kontos { $name } wartet mehr.
   *[other] Kein Brief von { $names } Konten wartet mehr ({ $name }).
}

problem-not-configured = { $count ->
    [one] 1 Brief wartet auf ein Konto, das nicht mehr eingerichtet ist ({ $name }).
   *[other] { $count } Briefe warten auf ein Konto, das nicht mehr eingerichtet ist ({ $name }).
}
do-not-configured = Rufen Sie Ihre IT an: Das Konto muss wieder eingerichtet werden, oder jemand muss sich anmelden, der diese Briefe sieht.
it-not-configured = Richten Sie das Konto wieder ein, oder melden Sie sich als jemand an, der diese Briefe sieht.
subject-not-configured = { $count ->
    [one] 1 Brief wartet auf ein Konto, das nicht mehr eingerichtet ist ({ $name })
   *[other] { $count } Briefe warten auf ein Konto, das nicht mehr eingerichtet ist ({ $name })
}
over-not-configured = Kein Brief wartet mehr auf ein Konto, das nicht eingerichtet ist ({ $name }).

why-configuration = In den Einstellungen ist ein Fehler ({ $name })
do-configuration = Rufen Sie Ihre IT an: In den Einstellungen ist ein Fehler. Bis er behoben ist, werden die Briefe nach den vorigen Einstellungen abgelegt.
it-configuration = Berichtigen Sie sie: docsyncd check sagt, was nicht stimmt. Bis dahin legt ein laufendes docsyncd die Briefe nach der vorigen Konfiguration ab.
subject-configuration = In den Einstellungen ist ein Fehler
mistake-line = Zeile { $number }
mistake-column = Spalte { $number }
mistake-other = die IT sieht, welcher
mistake-no-field = { $place }: Das Feld { $name } gibt es nicht
mistake-no-key = { $place }: Die Einstellung { $name } gibt es nicht
mistake-meant = { $what }, gemeint ist vielleicht { $meant }
mistake-exact = Auf Englisch: { $what }.
over-configuration = Die Einstellungen sind wieder in Ordnung und gelten.

why-clock = Die Uhr dieses Computers und die des Dienstes gehen mehr als fünf Minuten auseinander
do-clock = Stellen Sie die Uhr dieses Computers, und lassen Sie sie von einem Zeitserver stellen. Bis dahin können Anmeldungen und Zeitangaben falsch sein.
over-clock = Die Uhr dieses Computers geht wieder richtig.

why-certificate = Browser erkennen das Zertifikat der Statusseite nicht an oder bald nicht mehr
do-certificate = Rufen Sie Ihre IT an: Das Zertifikat dieser Seite ist zu erneuern. Briefe werden trotzdem abgelegt.
it-certificate = docsyncd check sagt, was an certificate_file nicht stimmt: Erneuern oder berichtigen Sie es. docsyncd liest es innerhalb einer Minute.
subject-certificate = Das Zertifikat der Statusseite ist zu erneuern
over-certificate = Das Zertifikat der Statusseite ist wieder in Ordnung.

problem-quiet = { $count ->
    [0] Kein Brief { $since }.
   *[other] Kein Brief { $since }; sonst { $count } am Tag.
}
do-quiet = Fragen Sie in der Praxis, ob seither Briefe geschrieben wurden. Wenn ja, rufen Sie Ihre IT an: Das Konto ist vielleicht das falsche, oder der Dienst zeigt ihm keine. War die Praxis geschlossen, ist nichts zu tun.
it-quiet = Was das Konto sieht: docsyncd check. Tage, an denen die Praxis geschlossen ist, gehören in [practice] closed; alerts.quiet_after = "off" beendet diese Meldungen.
subject-quiet = { $count ->
    [0] Es kommen keine Briefe mehr
   *[other] Es kommen keine Briefe mehr, sonst { $count } am Tag
}
over-quiet = Es kommen wieder Briefe.

## `docsyncd status --health`, für die Überwachung. Der Text ist das Ende einer Zeile, ohne Punkt.

health-more = und { $count } weitere
health-silent = Die Dateien von docsyncd antworten nicht innerhalb einer Sekunde: Funktioniert der Datenträger oder die Freigabe?
health-locked = Ein anderes Programm sperrt die Datenbank (Datensicherung, Virenscanner, Anzeigeprogramm?)
health-damaged = Die Datenbank ist nicht lesbar: Sie ist beschädigt
health-foreign = Die Datenbank ist nicht lesbar: Sie ist von einer anderen Version oder einem anderen Programm
health-no-right = Die Datenbank ist nicht lesbar: Dieser Benutzer darf es nicht, oder ihr Datenträger fehlt
health-unreadable = Die Datenbank ist nicht lesbar: Ihr Datenträger meldet Fehler
health-not-configured = nicht eingerichtet: { $what }
health-no-right-configuration = Die Konfiguration ist nicht lesbar: Dieser Benutzer darf es nicht
health-no-configuration = es gibt keine Konfiguration
health-no-key = noch hat kein Konto seinen Schlüssel oder seine Anmeldung
health-configuration = die Konfiguration ist nicht verwendbar (docsyncd check sagt, warum)
health-defect = docsyncd selbst ist beim Nachsehen fehlgeschlagen: Bitte melden Sie das

## Meldungen

alarm-subject-reminder = Noch immer: { $subject }
alarm-subject-over = Behoben: { $over }
alarm-subject-all-well = Alles ist wieder in Ordnung: { $over }
alarm-subject-test = docsyncd: ein Test
alarm-of-practice = { $subject } ({ $practice })
alarm-reminder = Noch immer: { $problem }
alarm-over = { $over } Begonnen hatte es { $began }.
alarm-all-well = Alles ist wieder in Ordnung.
alarm-left = Noch offen: { $what }
alarm-do = Was zu tun ist: { $advice }
alarm-page-at = Die Seite: { $address }
alarm-page-menu = Die Seite: auf dem Computer { $computer }, im Startmenü: docsyncd
alarm-page-command = Die Seite: auf dem Computer { $computer }, mit dem Befehl: docsyncd open
alarm-page-off = docsyncd hat hier keine Seite: Die Befehle unten tun dasselbe.
see-status = Warum, sehen Sie hier: docsyncd status.
alarm-it = Für die IT, auf { $computer }: { $commands }
alarm-it-file = { $it } (Zu jedem Befehl gehört: --config { $file })
alarm-test = Dies ist ein Test. Hier bekommen Sie die Meldungen von docsyncd. Es ist nichts zu tun.

## Die Tabelle von `docsyncd status`, für die Person, die docsyncd betreut. Was keine Variablen hat, ist eine Beschriftung.

table-no-ledger = läuft nicht; bisher wurde nichts abgeglichen: Unter { $path } liegt keine Datenbank
table-running = läuft
table-running-as = Version { $version }, Prozess { $process }, seit { $since }
table-not-running = LÄUFT NICHT
table-last-success = letzter Erfolg
table-reported = abgelegt
table-waiting = warten noch
table-waiting-for = { $waiting } ({ $fetch } abzuholen, { $deliver } abzulegen, { $report } zurückzumelden)
table-failed = fehlgeschlagen
table-uncertain = UNSICHER
table-uncertain-how = { $count } vielleicht angekommen: Sehen Sie dort nach ({ $list } nennt sie); { $retry } sendet einen erneut
table-person = ZU KLÄREN
table-person-how = { $count ->
    [one] { $count }: Es ist nicht klar, zu welchem Patienten er gehört
   *[other] { $count }: Es ist nicht klar, zu welchen Patienten sie gehören
} ({ $command })
table-to-confirm = zu bestätigen
table-to-confirm-how = { $count } abgelegt, von der Praxissoftware noch nicht übernommen ({ $command })
table-withdrawn = zurückgezogen
table-account = Konto
table-polled = { $name }: zuletzt abgefragt { $at }
table-poll-failed = LETZTE ABFRAGE FEHLGESCHLAGEN: { $why }
table-not-configured = NICHT EINGERICHTET: { $count ->
    [one] 1 Brief wartet
   *[other] { $count } Briefe warten
} darauf. Das Konto, das sie auflistet, übernimmt sie bei der nächsten Abfrage; tut es keines, richten Sie [accounts.{ $name }] wieder ein
table-sign-in = Anmeldung
table-sign-in-problem = ANMELDUNG
table-sign-in-why = { $name }: { $why }
table-signed-in-as = { $name }: angemeldet als { $user }
table-signed-in = { $name }: angemeldet
table-by-key = { $name }: mit API-Schlüssel
table-paused = ANGEHALTEN
table-paused-why = { $scope } seit { $since }, nächster Versuch { $next }: { $why }
table-paused-since = { $scope } seit { $since }, nächster Versuch { $next }
table-scope-account = Konto { $name }
table-scope-fetch = Downloads des Kontos { $name }
table-scope-report = Rückmeldungen des Kontos { $name }
table-scope-destination = Ziel { $name }
table-ledger = Datenbank

## Die Statusseite

page-open-well = Alles in Ordnung
page-open-waiting = Briefe warten; das kann sich von selbst erledigen
page-open-needs-person = Jemand muss eingreifen
page-open-not-running = docsyncd läuft nicht
page-as-of = Stand:
page-refresh = Aktualisieren
page-silent-title = docsyncd antwortet nicht.
page-silent = Was hier steht, war zur genannten Zeit richtig und ist vielleicht veraltet. Sobald docsyncd antwortet, erneuert sich die Seite; bleibt es so, rufen Sie Ihre IT an: Der Dienst ist zu starten.
page-language = Sprache
language = Deutsch
page-today = heute abgelegt
page-today-taken = heute abgelegt und übernommen
page-waiting = warten noch
page-tile-not-taken = { page-not-taken }
page-failed = fehlgeschlagen
page-locked = Namen und Schaltflächen sind gesperrt
page-locked-how = Um die Briefe zu sehen und was zu tun ist, führen Sie auf diesem Computer als Administrator „docsyncd open“ aus. Der Browser behält den Schlüssel, solange er einmal im Monat benutzt wird.
page-locked-elsewhere = Um die Briefe hier zu sehen, braucht dieser Browser einen Link. Er kommt von „{ page-another }“ in einem Browser, der sie zeigt, oder von „docsyncd open --for-another“, das ein Administrator auf dem Computer mit docsyncd ausführt.
page-locked-not-encrypted = Auf diesem Computer zeigt die Seite keine Namen und keine Schaltflächen, weil die Verbindung nicht verschlüsselt ist. Wer sich um die Computer kümmert, kann das ändern, mit einem Zertifikat für die Seite.
page-accounts-work = Konten, die funktionieren: { $works } von { $all }.
page-destinations-work = Ziele, die funktionieren: { $works } von { $all }.
page-problems = Was nicht stimmt und was zu tun ist
page-failed-title = Konnten nicht abgelegt werden
page-retry = Erneut versuchen
page-retry-all = Alle erneut versuchen
page-mended = Es ist behoben, erneut versuchen
page-patients-title = Zu welchem Patienten gehört dieser Brief?
page-patients-how = Die erste Zeile zeigt die Angaben des Dienstes, die anderen zeigen, wer in der Liste der Praxis gemeint sein kann. Was abweicht, ist markiert.
page-patients-no-list = Die Patientenliste der Praxis kann noch nicht gelesen werden.
page-patients-others = und { $count ->
    [one] 1 weiterer Brief
   *[other] { $count } weitere Briefe
} zu demselben Patienten
page-patients-changed = Jemand hat es schon angegeben, aber seither hat sich ein Name oder Geburtsdatum geändert.
page-patients-nobody = In der Liste steht niemand mit ähnlichem Namen. Wird der Patient noch eingetragen, warten Sie; sonst geben Sie die Patientennummer ein.
page-patients-type = Patientennummer
page-patients-look = Vergleichen
page-patients-alike = Mehrere haben denselben Namen und dasselbe Geburtsdatum: Die Liste selbst kann sie nicht unterscheiden. Vergleichen Sie die weiteren Spalten (Ort, Versicherung …).
page-patients-no-number = Diese Nummer kann nicht zugeordnet werden.
page-patients-shared = Die Liste hat zwei Personen unter dieser Nummer.
page-patients-unnamed = Der Dienst sagt nicht, um welchen Patienten es in diesem Brief geht.
page-patients-differs = weicht ab
page-patients-where = Wo
page-patients-cloud = Online-Dienst
page-patients-list = Liste der Praxis
page-patients-number = Nummer
page-patients-more = Es gibt noch mehr davon: Klären Sie zuerst diese.
page-last-name = Nachname
page-first-name = Vorname
page-born = Geboren
page-assign = Diesem Patienten zuordnen
page-undo = Rückgängig machen
page-decided = Dem Patienten mit der Nummer { $number } ({ $patient }) zugeordnet, auch für künftige Briefe. Er wird gleich abgelegt; bis dahin können Sie es rückgängig machen.
page-look-title = Bitte sehen Sie noch einmal hin
page-look-differs = Dienst und Praxis machen verschiedene Angaben: Was abweicht, ist markiert.
page-look-spelling = Der Name ist auf beiden Seiten verschieden geschrieben.
page-look-anothers = Ein anderer Patient hat diese Nummer: Briefe eines anderen Patienten des Dienstes gehen schon an die Nummer { $number }.
page-look-another = In der Liste der Praxis hat ein anderer Patient die Nummer { $number }.
page-look-twin = Liste der Praxis, anderer Patient
page-look-not-listed = Die Nummer { $number } steht nicht in der Liste der Praxis. Ist der Patient neu?
page-look-yes = Ja, der Nummer { $number } zuordnen
page-look-no = Nein, zurück
page-look-filed = Dieser Brief ist unter der Nummer { $number } abgelegt.
page-misfiled-how = Unter einer anderen Nummer wird er noch einmal abgelegt. Die Kopie in der falschen Akte bleibt dort, bis jemand sie entfernt: Die Seite des Briefs zeigt dann, wo sie liegt.
page-waiting-title = Warten noch
page-uncertain-title = Vielleicht angekommen: bitte nachsehen
page-beside-title = Doppelt abgelegt: alte Kopie entfernen
page-not-taken-title = Abgelegt, noch nicht übernommen ({ $count })
page-today-title = Heute abgelegt
page-today-none = Heute wurde noch kein Brief abgelegt{ $waits ->
    [0] { "" }
   *[other] { " " }und übernommen
}.
page-poll = Jetzt nach neuen Briefen suchen
page-decisions = Welcher Patient: in den letzten 30 Tagen entschieden
page-decisions-count = { $count ->
    [one] 1 Entscheidung anzeigen
   *[other] { $count } Entscheidungen anzeigen
}
page-decisions-how = War eine falsch? Öffnen Sie den Brief, und klicken Sie auf „{ page-undo }“; ist er schon abgelegt: „{ letter-misfiled }“.
page-decisions-more = Es gibt noch mehr: Der Verlauf jedes Briefs zeigt die seinen.
page-who = Wer
page-who-browser = diese Seite, Browser { $browser }
page-taken-back = zurückgenommen
page-places = Konten und Ziele
page-accounts = Konten
page-destinations = Ziele
page-works = funktioniert
page-paused = angehalten
page-asked-account = · zuletzt abgefragt { $at }
page-asked-destination = · hat { $at } funktioniert
page-next = Nächster Versuch { $at }.
page-why-there = Siehe { $name } weiter unten.
page-fold = { $count } weitere anzeigen
page-days = Die letzten 30 Tage
page-days-summary = { $count ->
    [0] In den letzten 30 Tagen wurde kein Brief abgelegt{ $waits ->
        [0] { "" }
       *[other] { " " }und übernommen
    }
    [one] In den letzten 30 Tagen wurde 1 Brief abgelegt
   *[other] In den letzten 30 Tagen wurden { $count } Briefe abgelegt
}{ $failed ->
    [0] .
    [one] , 1 ist fehlgeschlagen (rot).
   *[other] , { $failed } sind fehlgeschlagen (rot).
}
page-days-table = Die Zahlen als Tabelle
page-day = Tag
page-day-well = Briefe abgelegt, alles in Ordnung
page-day-trouble = etwas ist fehlgeschlagen oder ließ sich nicht ablegen
page-day-person = jemand musste eingreifen
page-day-silent = keine Briefe
page-day-numbers = { $date }: { $filed } abgelegt, { $failed } fehlgeschlagen
page-strip = { $well ->
    [one] 1 Tag in Ordnung,
   *[other] { $well } Tage in Ordnung,
} { $trouble ->
    [one] 1 mit einem Problem,
   *[other] { $trouble } mit Problemen,
} { $person ->
    [one] an 1 musste jemand eingreifen,
   *[other] an { $person } musste jemand eingreifen,
} { $silent ->
    [one] 1 ohne Briefe.
   *[other] { $silent } ohne Briefe.
}
page-filed = Abgelegt
page-time = Zeit
page-since = Wartet seit
page-patient = Patient
page-type = Art
page-place = Ablageort
page-why = Warum
page-state = Status
page-action = Aktion
page-no-type = ohne Art
page-no-place = nicht gespeichert
page-not-taken = abgelegt, noch nicht übernommen
page-not-replaced = neben der alten Fassung abgelegt
page-for-another = liegt noch bei einem anderen Patienten: entfernen
proof-durable = die Datei liegt auf dem Datenträger
proof-accepted = er wurde dort angenommen
proof-read-back = er wurde zurückgelesen und verglichen
proof-taken = von der Praxissoftware übernommen
proof-moved = von der Praxissoftware verschoben
proof-sidecar = von der Praxissoftware bestätigt
proof-probe = dort vom Dienst angezeigt
proof-query = dort gefunden
proof-person = dort von jemandem gesehen
page-no-name = ohne Namen, Nummer …{ $number }
page-waits-new = Er wird gerade heruntergeladen.
page-waits-service = Er muss noch vom Dienst geholt werden.
page-waits-destination = Er muss noch abgelegt werden.
page-waits-taken = Er ist abgelegt, von der Praxissoftware aber noch nicht übernommen.
page-waits-report = Er ist abgelegt; dem Dienst ist es noch zu melden.
page-not-filed = Er konnte nicht abgelegt werden.
page-unreported = Er ist abgelegt, aber der Dienst nimmt die Rückmeldung nicht an.
page-more = Es gibt noch mehr davon: Die Suche zeigt alle.
page-search = Brief suchen
page-search-words = Patient, Dateiname oder Nummer
page-search-day = Eingegangen am
page-search-any = alle
page-search-go = Suchen
page-search-no-names = Namen werden nicht gespeichert, daher findet die Suche nur Nummern von Briefen.
page-search-empty = Schreiben Sie einen Namen, oder wählen Sie einen Tag oder eine Art.
page-search-none = Kein Brief gefunden. Versuchen Sie es nur mit den ersten Buchstaben des Namens.
page-search-found = { $count ->
    [one] 1 Brief gefunden.
   *[other] { $count } Briefe gefunden.
}
page-search-newest = { $count ->
    [0] Kein Brief unter den neuesten gefunden
    [one] 1 Brief unter den neuesten gefunden
   *[other] { $count } Briefe unter den neuesten gefunden
}: Alle diese Wörter stehen in sehr vielen Briefen. Schreiben Sie einen Namen, oder wählen Sie einen Tag.
page-more-found = Es gibt noch mehr: Schreiben Sie mehr vom Namen, oder wählen Sie einen Tag.
page-close = Diesen Browser sperren
page-close-first = Zum Entsperren muss ein Administrator auf dem Computer mit docsyncd „docsyncd open“ ausführen.
page-contact = Wen Sie anrufen: { $contact }
page-support = Datei für den Support
page-it = Für die IT: { $what }
page-notice-retried = Für diesen Brief läuft ein neuer Versuch. Die Seite zeigt, was daraus wird.
page-notice-retried-all = Für alles, was fehlgeschlagen ist, läuft ein neuer Versuch. Die Seite zeigt, was daraus wird.
page-notice-polled = docsyncd sucht jetzt nach neuen Briefen.
page-notice-closed = Dieser Browser ist gesperrt: Er zeigt keine Namen mehr.
page-notice-locked = Der andere Browser ist gesperrt: Er zeigt keine Namen mehr.
page-notice-assigned-others = Briefe dieses Patienten, die vorher abgelegt wurden, liegen unter einer anderen Nummer. Suchen Sie sie mit dem Namen des Patienten, öffnen Sie jeden davon und wählen Sie auch dort seinen Patienten.
page-notice-filed-anew = Der Brief wird unter der richtigen Nummer noch einmal abgelegt. Entfernen Sie die Kopie in der falschen Akte: Diese Seite zeigt, wo sie liegt. Wenn andere Briefe dieses Patienten mit der falschen Nummer abgelegt wurden, öffnen Sie jeden davon und wählen Sie auch dort seinen Patienten.
page-notice-same-number = Nichts wurde geändert: Der Brief ist schon unter dieser Nummer abgelegt.
page-notice-not-read = Nichts wurde geändert: Der Dienst sagt gerade nicht, um welchen Patienten es geht. Versuchen Sie es in einigen Minuten noch einmal.
page-notice-unknown = Der Brief ist nicht mehr so, wie die Seite ihn zeigte: Nichts wurde geändert. Sehen Sie noch einmal nach.
page-notice-not-assigned = Nichts wurde geändert: Der Brief wartet nicht mehr darauf, oder die Liste oder der Patient ist nicht mehr so, wie die Seite es zeigte. Sehen Sie noch einmal nach.
page-notice-shared-number = Nichts wurde geändert: Die Liste hat zwei Personen unter dieser Nummer. Berichtigen Sie sie zuerst.
page-notice-no-number = Nichts wurde geändert: Geben Sie eine Nummer ein.
page-notice-undone = Das ist rückgängig gemacht: Der Brief wartet wieder.
page-notice-not-undone = Es lässt sich nicht mehr rückgängig machen: Ein Brief dieses Patienten ist schon so abgelegt oder wird gerade abgelegt.
page-notice-arrived = Es ist vermerkt, dass der Brief da ist.
page-notice-mended = Es funktioniert wieder: Was wartete, geht weiter.
page-notice-not-mended = Es wurde erneut versucht und funktioniert noch nicht. Der Grund steht unten bei „{ page-places }“.
page-notice-trying = Es wird erneut versucht. Die Seite zeigt, was daraus wird.
page-back = Zur Statusseite
page-letter-locked = Dieser Browser darf diesen Brief nicht zeigen
page-letter-locked-do = Ein Administrator führt auf dem Computer mit docsyncd „docsyncd open“ aus, oder ein anderer Browser macht einen Link („{ page-another }“). Öffnen Sie danach den Brief noch einmal.
page-no-letter = docsyncd kennt diesen Brief nicht
page-no-letter-do = Vielleicht ist seine Nummer falsch, oder er stammt aus einer anderen Installation.
page-pdf-changed = Das ist nicht die Datei, die docsyncd abgelegt hat
page-pdf-changed-do = An ihrer Stelle liegt jetzt etwas anderes: Jemand hat sie geändert oder ersetzt. docsyncd zeigt nur, was es selbst abgelegt hat. Sehen Sie in der Praxissoftware nach.
page-pdf-gone = Das PDF liegt nicht auf diesem Computer
page-pdf-gone-do = Es wurde aus seinem Ordner genommen, oder sein Ziel ist kein Ordner dieses Computers. Die Seite des Briefs sagt, wohin er ging.
page-pdf-unknown = Der Ordner mit dem PDF antwortet nicht
page-pdf-unknown-do = Versuchen Sie es gleich noch einmal. Bleibt es so, prüfen Sie, ob sein Computer oder die Freigabe erreichbar ist.
page-pdf-not-fetched = Der Dienst gibt das PDF gerade nicht heraus
page-pdf-not-fetched-do = Versuchen Sie es gleich noch einmal. Bleibt es so, sagt die Statusseite, ob der Dienst funktioniert.
page-nothing = Unter dieser Adresse gibt es nichts
page-nothing-do = Die Statusseite hat die Adresse, die „docsyncd open --print“ zeigt.
page-opened = Dieser Browser darf die Briefe jetzt zeigen
page-opened-do = Er behält den Schlüssel, solange er einmal im Monat benutzt wird. „Diesen Browser sperren“ auf der Seite nimmt ihn wieder weg.
page-opened-elsewhere = Dieser Browser darf die Briefe jetzt zeigen
page-opened-elsewhere-do = Er behält den Schlüssel 90 Tage lang. „Diesen Browser sperren“ auf der Seite nimmt ihn wieder weg.
page-not-encrypted = Diese Verbindung ist nicht verschlüsselt
page-not-encrypted-do = Die Briefe werden hier nicht gezeigt. Öffnen Sie die Seite unter ihrer Adresse mit https://. Hat sie keine, kann ihr ein Zertifikat geben, wer sich um die Computer kümmert.
page-another = Für einen weiteren Computer
page-another-how = Öffnen Sie diese Adresse innerhalb einer Stunde in einem Browser des anderen Computers. Er zeigt dann 90 Tage lang die Briefe.
page-another-tunnel = Andere Computer erreichen diese Seite nicht. Wer sich um die Computer kümmert, kann das ändern, mit einem Zertifikat für die Seite. Bis dahin öffnet diese Adresse sie innerhalb einer Stunde in einem anderen Browser dieses Computers oder durch einen Tunnel (ssh -L).
page-another-once = Sie gilt einmal. Wer sie öffnet, sieht die Briefe: Geben Sie sie nur der Person, für die sie ist. Auf der Statusseite lässt sich das wieder wegnehmen.
page-browsers = { $count } Browser zeigen die Briefe
page-browser = Browser
page-browser-this = dieser
page-browser-known = seit { $since }, bis { $until }, wenn er nicht benutzt wird
page-browser-until = seit { $since }, bis { $until }
page-browser-lock = Sperren
page-used = Dieser Link ist nicht mehr gültig
page-used-do = Ein Link gilt einmal und zwei Minuten lang, einer für einen anderen Computer eine Stunde. Machen Sie einen neuen. Hat jemand anderes ihn benutzt, sperren Sie dessen Browser.
page-foreign = Das kam nicht von der Statusseite
page-foreign-do = Nichts wurde geändert. Öffnen Sie die Seite noch einmal und wiederholen Sie den Schritt; ist der Schlüssel abgelaufen, führen Sie „docsyncd open“ aus.
page-too-large = Das ist zu lang
page-too-large-do = Nichts wurde geändert. Schreiben Sie weniger.
page-trouble = docsyncd kann seine Datenbank gerade nicht lesen
page-trouble-do = Versuchen Sie es gleich noch einmal. Bleibt es so, rufen Sie Ihre IT an: „docsyncd status“ und das Protokoll sagen, warum.

type-operative-report = Operationsbericht
type-referral-letter = Überweisungsschreiben
type-cone-beam-report = DVT-Befund
type-patient-letter = Brief an den Patienten
type-prescription = Rezept
type-initial-medical-certificate = Attest mit Erstbefund
type-attendance-certificate = Anwesenheitsbescheinigung
type-contraindication-certificate = Attest zur Kontraindikation
type-lab-slip = Laborauftrag
type-endo-report = Endodontischer Befund
type-ortho-letter = Kieferorthopädischer Brief

state-discovered = abzuholen
state-fetched = abzulegen
state-filed = { page-not-taken }
state-delivered = abgelegt, noch zu melden
state-failing = fehlgeschlagen
state-reported = abgelegt
state-failed = fehlgeschlagen
state-unreported = abgelegt, Rückmeldung abgelehnt
state-withdrawn = vom Dienst zurückgezogen

## Die Seite eines Briefs

page-number = Nummer
page-account = Konto
letter-pdf = PDF öffnen
letter-fetch = PDF vom Dienst holen
letter-pdf-gone = Das PDF liegt nicht auf diesem Computer: Unten steht, wo es abgelegt wurde.
letter-pdf-changed = Wo das PDF abgelegt wurde, liegt jetzt etwas anderes: Es wurde geändert oder ersetzt.
letter-try-now = Jetzt versuchen
letter-arrived = Er ist da
letter-removed = Die alte Fassung ist entfernt
letter-removed-anothers = Die Kopie beim anderen Patienten ist entfernt
letter-misfiled = Beim falschen Patienten abgelegt?
letter-send-again = Er ist nicht da: erneut senden
letter-uncertain = Er ist vielleicht angekommen, sicher ist es nicht.
letter-uncertain-how = Sehen Sie zuerst dort nach: Davon hängt ab, welche Schaltfläche richtig ist.
letter-filed = Er ist abgelegt und dem Dienst gemeldet.
letter-withdrawn = Der Dienst hat ihn zurückgezogen.
letter-nowhere = Er liegt noch nirgends.
letter-may-have-arrived = vielleicht angekommen
letter-there = abgelegt
letter-to-come = abzulegen
letter-older-version = eine ältere Fassung
letter-for-another = für einen anderen Patienten abgelegt
letter-was-removed = für einen anderen Patienten abgelegt, seither entfernt
letter-copy = Kopieren
letter-copied = Kopiert
letter-proof = Festgestellt { $at }:
letter-history = Was geschehen ist
letter-history-removed = Älteres wurde gelöscht (state.keep_history).
letter-times = ({ $count }-mal)
letter-by = durch { $who }
letter-decision = Nummer { $number }, { $listed }; durch { $who }
letter-listed = in der Liste der Praxis
letter-not-listed = nicht in der Liste der Praxis
letter-more = Einzelheiten
letter-created = Erstellt
letter-found = Gefunden
letter-size = Größe
letter-kilobytes = { $size } KB

event-discovered = In der Liste des Dienstes gefunden
event-fetched = Heruntergeladen
event-delivered = Abgelegt bei { $name }
event-filed = Abgelegt bei { $name }, noch nicht übernommen
event-failed = Nicht abgelegt{ $places ->
    [0] { "" }
   *[other] { " " }bei { $name }
}
event-all-delivered = Überall abgelegt; wird dem Dienst gemeldet
event-refused = Aufgegeben; wird dem Dienst gemeldet
event-report-accepted = Dem Dienst gemeldet
event-report-refused = Der Dienst nahm die Rückmeldung nicht an
event-gone = Der Dienst zeigt ihn nicht mehr
event-start-over = Neu begonnen
event-relisted = Beim Dienst noch einmal angefordert
event-revised = Eine neue Fassung kam
event-retry-requested = Jemand hat einen neuen Versuch verlangt
event-retracted = Wieder aufgenommen
event-postponed = Nicht gelungen{ $places ->
    [0] { "" }
   *[other] { " " }bei { $name }
}; wird erneut versucht
event-waiting = Wartet
event-unconfirmed = Vielleicht angekommen bei { $name }
event-not-replaced = Bei { $name } neben der alten Fassung abgelegt
event-filed-for-another = Die Kopie bei { $name } war für einen anderen Patienten
event-needs-person = Wartet: welcher Patient?
event-assigned = Einem Patienten zugeordnet
event-unassigned = Die Zuordnung wurde rückgängig gemacht
event-taken-over = Ein anderes Konto macht damit weiter
event-forgotten = Seine Namen wurden gelöscht

## Was `docsyncd list`, `find` und `show` sagen. Spalten und Beschriftungen sind Wörter in einer Zeile.

column-when = Wann
column-destination = Ziel
column-document = Brief
column-reason = Grund
column-reason-or-file = Grund oder Datei
column-exact = Genauer Grund
column-attempts = Fehlversuche
column-next = Nächster Versuch
state-delivered-short = zu melden
state-unreported-short = nicht gemeldet
state-withdrawn-short = zurückgezogen
list-none = keine Briefe
list-no-ledger = unter { $path } gibt es noch keine Datenbank
not-known = kein Brief { $text } ist bekannt{ $least ->
    [0] { "" }
   *[other] { " " }(ein Teil einer Nummer hat mindestens { $least } Zeichen)
}; { $list } zeigt die bekannten
find-none = kein Brief gefunden; versuchen Sie es nur mit den ersten Buchstaben des Namens
find-none-no-names = kein Brief gefunden; Namen werden nicht gespeichert (state.keep_names), daher findet die Suche nur Nummern
find-none-newest = kein Brief unter den neuesten gefunden: Alle diese Wörter stehen in sehr vielen Briefen, schreiben Sie daher einen Namen
find-nothing = nichts zu suchen: Ein Wort hat mindestens einen Buchstaben oder eine Ziffer
find-a-word = WORT
find-more = es gibt mehr als diese { $limit }: Schreiben Sie mehr, oder führen Sie aus: { $command }
find-older = vielleicht gibt es ältere: Alle diese Wörter stehen in sehr vielen Briefen. Schreiben Sie einen Namen; alle zeigt { $command }
find-for-another = eine Kopie, die für einen anderen Patienten abgelegt wurde, liegt noch dort: { $command } zeigt, wo
show-bytes = { $size } Byte
show-patient-number = Patientennummer { $number }
show-output = was das Programm geschrieben hat: { $file }
show-attempts = { $count ->
    [one] 1 Versuch fehlgeschlagen
   *[other] { $count } Versuche fehlgeschlagen
}, der nächste { $next }
show-event-attempt = { $event } (Fehlversuch { $attempt })
show-history-removed = Älteres wurde gelöscht (state.keep_history)

## Warum ein Brief wartet oder nicht abgelegt werden konnte.

reason-unknown = Die Einzelheiten sind englisch: docsyncd show, mit seiner Nummer.
reason-quote = { $why } Es sagt: „{ $line }“
reason-unconfirmed = Er ist vielleicht angekommen: Sehen Sie am Ziel nach. Ist er nicht dort, kann er erneut gesendet werden. { $why }
reason-gave-up = docsyncd hat nach vielen Versuchen aufgegeben. { $why }
reason-not-taken = Er ist abgelegt, von der Praxissoftware aber noch nicht übernommen.
reason-patient-nobody = Der Patient steht nicht in der Liste der Praxis.
reason-patient-several = Mehrere Patienten in der Liste der Praxis können gemeint sein.
reason-patient-no-date-of-birth = Das Geburtsdatum des Patienten fehlt.
reason-patient-no-name = Der Name des Patienten fehlt.
reason-patient-other-number = Am Ziel hat der Patient eine andere Nummer als der Patient des Briefs.
reason-patient-not-there = Das Ziel hat keinen Patienten mit dieser Nummer: Legen Sie ihn dort an, und versuchen Sie es dann erneut.
reason-patient-several-there = Das Ziel hat mehrere Patienten mit dieser Nummer: Führen Sie sie dort zusammen, und versuchen Sie es dann erneut.
reason-patient-not-held = Das Ziel kann die Nummer des Patienten nicht unverändert aufnehmen (ein Zeichen, ihre Länge oder ihr Ende), und docsyncd ändert nie eine Nummer: Geben Sie dem Patienten eine andere Nummer, oder lassen Sie die Einstellungen des Ziels ändern, und versuchen Sie es dann erneut.
reason-patient-given-away = Der Brief ging woandershin mit einer Nummer, die die Liste der Praxis jetzt jemand anderem gibt.
reason-patient-no-list = Er wartet auf die Patientenliste der Praxis.
reason-not-rendered = Sein PDF ist noch nicht fertig.
reason-no-content = Der Dienst kündigt sein PDF an, aber der Server hat dessen Inhalt noch nicht.
reason-rendered-anew = Sein PDF wird gerade erneuert.
reason-other-patient = Der Dienst nennt dafür zwei Patienten: Sehen Sie dort nach, wessen Brief es ist.
reason-two-versions = Der Dienst zeigt zwei Fassungen zugleich: Er wird noch einmal geprüft.
reason-filed-for-another = Er wurde zuvor für einen anderen Patienten abgelegt: Entfernen Sie ihn dort{ $places ->
    [0] .
   *[other] : { $place }
}
reason-maybe-for-another = Er wurde vielleicht zuvor für einen anderen Patienten abgelegt: Sehen Sie dort nach, und entfernen Sie ihn.
reason-may-be-undone = Jemand an der Statusseite kann die Zuordnung noch rückgängig machen: In ein paar Sekunden wird er abgelegt.
reason-not-read = Der Dienst hat ihn vielleicht inzwischen berichtigt und zeigt ihn gerade nicht: Er wird erst noch einmal gelesen.
reason-many-versions = Der Dienst zeigt davon immer neue Fassungen: Er wird immer seltener heruntergeladen.
reason-spool-full = Der Platz für heruntergeladene Briefe ist voll (state.spool_limit): Er wird heruntergeladen, wenn andere abgelegt sind.
reason-spool-damaged = Sein heruntergeladenes PDF ist verschwunden oder verändert: docsyncd lädt es noch einmal herunter. Vielleicht hat ein Virenscanner es gelöscht.

reason-no-room = Das Ziel { $name } hat keinen Platz mehr: { $places ->
    [0] Schaffen Sie dort Platz.
   *[other] Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt.
}
reason-no-route = Keine Regel in [[routes]] nimmt diesen Brief: Fügen Sie eine hinzu, und versuchen Sie es dann erneut.
reason-record-too-large = Der Dienst gibt zu diesem Brief mehr Werte an, als docsyncd liest: Fragen Sie den Betreiber des Dienstes.
reason-too-large = Sein PDF ist größer als die Grenze (sync.max_pdf_bytes).
reason-exit = Das Programm des Ziels { $name } endete mit dem Code { $code }.
reason-signal = Das Programm des Ziels { $name } wurde durch das Signal { $code } beendet.
reason-crashed = Das Programm des Ziels { $name } endete, ohne zu sagen, warum.
reason-out-of-time = Das Programm des Ziels { $name } brauchte zu lange und wurde beendet.
reason-program = Das Programm des Ziels { $name } lässt sich nicht starten: Rufen Sie Ihre IT an (docsyncd check).
reason-internal = docsyncd hatte auf diesem Computer ein Problem: Das Protokoll sagt, welches.

reason-destination-no-folder = Der Ordner des Ziels { $name } ist nicht zu finden: Ist die Freigabe verbunden?
reason-destination-another-folder = Der Ordner des Ziels { $name } ist nicht der, in dem Briefe auf die Übernahme warten: Ist die Freigabe verbunden?
reason-destination-not-allowed = Das Ziel { $name } lässt docsyncd nicht schreiben: Geben Sie dem Benutzer des Dienstes das Recht dazu.
reason-destination-read-only = Das Ziel { $name } ist schreibgeschützt.
reason-destination-in-the-way = Am Ziel { $name } steht eine andere Datei, ein Ordner oder eine Verknüpfung im Weg: Rufen Sie Ihre IT an (docsyncd check).
reason-destination-other-content = Das Ziel { $name } hat unter der Kennung dieses Briefs einen anderen Inhalt: Sehen Sie dort nach, und löschen Sie ihn.
reason-destination-name = Das Ziel { $name } nimmt den Dateinamen nicht an: Kürzen oder vereinfachen Sie file_name.
reason-destination-template = Eine Vorlage des Ziels { $name } lässt sich für diesen Brief nicht ausfüllen: Berichtigen Sie sie in der Konfiguration.
reason-destination-encoding = Ein Zeichen dieses Briefs fehlt in der Kodierung, die das Ziel { $name } liest: Berichtigen Sie es im Brief, oder wählen Sie eine andere sidecar_encoding.
reason-destination-patient = Am Ziel { $name } ist der Patient dieses Briefs nicht sicher zu erkennen: Tragen Sie dort Namen und Geburtsdatum ein, oder berichtigen Sie sie, und versuchen Sie es dann erneut.
reason-destination-too-large = Das Ziel { $name } nimmt keine Datei dieser Größe an.
reason-destination-not-written = Das Ziel { $name } konnte die Datei nicht speichern: Prüfen Sie den Datenträger oder die Freigabe.
reason-destination-unreachable = Das Ziel { $name } antwortet nicht: Ist es eingeschaltet und mit dem Netzwerk verbunden?
reason-destination-crowded = Das Ziel { $name } hat so viele Verbindungen, wie es annimmt, oder weist diesen Computer für eine Weile ab: docsyncd versucht es von selbst wieder.
reason-destination-broken-off = Die Verbindung zum Ziel { $name } brach ab, oder der Brief kam dort nicht so an, wie er gesendet wurde.
reason-destination-unsuited = Das Ziel { $name } antwortet nicht wie erwartet: Seine Adresse oder Einstellungen sind zu prüfen. Rufen Sie Ihre IT an (docsyncd check).
reason-destination-host-key = Der Hostschlüssel des Ziels { $name } ist nicht der bekannte: Fragen Sie die Person, die den Server betreut.
reason-destination-sign-in = Das Ziel { $name } lehnt Benutzer, Passwort oder Schlüssel ab, oder docsyncd kann sie nicht lesen.
reason-destination-tls = Die verschlüsselte Verbindung zum Ziel { $name } kommt nicht zustande: Rufen Sie Ihre IT an (docsyncd check).
reason-destination-busy = Das Ziel { $name } bittet zu warten (Code { $code }).
reason-destination-fault = Das Ziel { $name } ist gestört (Code { $code }).
reason-destination-says-error = Das Ziel { $name } antwortet, dass es fehlgeschlagen ist: Sein eigenes Protokoll sagt, warum.
reason-destination-not-yet = Das Ziel { $name } meldet, dass er noch nicht abgelegt oder nicht zu finden ist.
reason-destination-unclear-answer = Die Antwort des Ziels { $name } klingt nach einem Fehler, und es ist vielleicht keiner: Sehen Sie dort nach, ob der Brief angekommen ist.
reason-destination-status = Das Ziel { $name } antwortete mit einem Fehler (Code { $code }).
reason-destination-check = Das Ziel { $name } funktioniert nicht: Ist der Computer mit dem Ordner eingeschaltet, ist der Ordner da, darf docsyncd dort schreiben?
reason-destination-refuses = Das Ziel { $name } nimmt diesen Brief nicht an.
reason-destination-fails = Das Ziel { $name } konnte diesen Brief nicht übernehmen.

reason-service-unreachable = Der Dienst ist nicht erreichbar: Prüfen Sie die Internetverbindung.
reason-service-broken-off = Die Verbindung zum Dienst brach ab.
reason-service-signed-out = Das Konto { $name } muss sich beim Dienst neu anmelden: Rufen Sie Ihre IT an.
reason-service-key = Der Dienst lehnt den Schlüssel des Kontos { $name } ab: Rufen Sie Ihre IT an, es braucht einen gültigen.
reason-service-credentials = docsyncd kann nicht verwenden, womit sich das Konto { $name } beim Dienst anmeldet: Rufen Sie Ihre IT an.
reason-service-renewal = Die Anmeldung des Kontos { $name } lässt sich gerade nicht erneuern: docsyncd versucht es von selbst wieder.
reason-service-not-allowed = Dem Konto fehlt das Recht dazu: Bitten Sie den Betreiber des Dienstes darum.
reason-service-not-found = Der Dienst sagt, er kenne diesen Brief nicht: docsyncd prüft es in der Liste.
reason-service-busy = Der Dienst bittet zu warten (Code { $code }).
reason-service-fault = Der Dienst ist gestört (Code { $code }).
reason-service-status = Der Dienst antwortete mit einem Fehler (Code { $code }).
reason-service-report = Der Dienst nimmt die Rückmeldung nicht an (Code { $code }).
reason-service-not-understood = Die Antwort des Dienstes ist nicht zu verstehen; vielleicht verändert sie ein Proxy.
reason-service-no-pdf = Das PDF dieses Briefs ist nicht unter der Adresse zu finden, die der Dienst nennt (Code { $code }).
reason-service-insecure = Die Adresse des PDF oder der API ist nicht verschlüsselt (https): abgelehnt, denn Patientendaten würden offen übertragen.
reason-service-address = Die Adresse des PDF ist nicht erlaubt: Liegen die PDFs wirklich dort, nennen Sie den Server in api.pdf_hosts.
reason-service-refuses = Der Dienst gibt diesen Brief nicht heraus.
reason-service-fails = Der Dienst konnte diesen Brief nicht liefern.
reason-not-a-pdf = Was der Dienst gesendet hat, ist kein PDF; vielleicht kam stattdessen die Seite eines Proxys oder einer Anmeldung.
reason-wrong-size = Das empfangene PDF hat nicht die angekündigte Größe.
reason-no-end = Die Verbindung endete anscheinend, bevor das PDF vollständig war.
reason-slow = Das Herunterladen ist zu langsam.
reason-spool = docsyncd kann das PDF nicht auf seinem Datenträger speichern: { $places ->
    [0] Schaffen Sie Platz.
   *[other] Schaffen Sie Platz auf dem Datenträger, auf dem { $place } liegt.
}
reason-cut-off = docsyncd wurde beim Lesen dieses Briefs beendet.

## Der Dialog von `docsyncd setup`. Was mit `-help` endet, steht unter der Frage desselben Namens. Die Worte der Auswahl stehen in config/presets.

setup-changed = { $file } wird geändert, wenn Sie es am Ende bestätigen; die Kommentare darin bleiben, wie sie sind.
setup-new = { $file } wird am Ende geschrieben.
setup-begin = Jede Antwort wird sofort geprüft. Vor dem Ende wird nichts geschrieben; Strg+C lässt alles, wie es ist.
setup-begin-back = Esc oder { $back } führt zur vorigen Frage zurück.
setup-nothing-written = Nichts wurde geschrieben.
setup-interrupted = Abgebrochen. Nichts wurde geschrieben.
setup-no-terminal = setup stellt Fragen, und es gibt kein Terminal, an dem es fragen kann: Geben Sie die Antworten in einer Datei, wie in docsyncd setup --answers answers.toml (docs/first-hour.md hat eine)
setup-unusable-terminal = das Terminal ist nicht benutzbar
setup-keys = ↑ ↓ auswählen · Enter bestätigen · Esc zurück
setup-gone-back = (zurück)
setup-its-number = Die Nummer:
setup-number-expected = erwartet wird eine Zahl von 1 bis { $most }
setup-yes = Ja
setup-no = Nein
setup-usual-yes = J/n
setup-usual-no = j/N
setup-yes-or-no = erwartet wird j oder n
setup-refused = Das geht nicht: { $why }
setup-needed = eine Antwort ist nötig
setup-not-expected = { $text } ist nicht, was hier erwartet wird
setup-no-list = keine gültige Liste wie ["a", "b"]
setup-as = { " " }(Benutzer { $user })
setup-cannot-read = { $file } lässt sich nicht lesen{ $whom } ({ $why })
setup-no-place = diesen Ort gibt es nicht
setup-mend = setup ändert nur eine Datei, die lesbar ist: Berichtigen Sie sie, oder verschieben Sie sie, um neu zu beginnen
setup-file-head =
    Die Konfiguration von docsyncd. Ändern: docsyncd setup; prüfen: docsyncd check.
    Eine Zeile, die mit # beginnt, ist ein Kommentar. Eine Einstellung hinter # ohne Leerzeichen kann wegbleiben und zeigt
    ihren üblichen Wert oder ein Beispiel: Entfernen Sie das #, um sie zu benutzen. Die weiteren Kommentare sind englisch;
    was setup fragt, erklärt docs/de/first-hour.md.
answers-unreadable = die Antworten lassen sich nicht lesen{ $whom } ({ $why })
answers-letter-case = { $one } und { $other } unterscheiden sich nur in der Groß- und Kleinschreibung: Behalten Sie eine davon
answers-no-file = es gibt weder { $all } noch { $own }, den Namen dieses Computers
answers-text = erwartet wird ein Text
answers-choice = erwartet wird eines von { $names }
answers-true-or-false = erwartet wird true oder false
answers-no-value = das ist kein Wert für eine Einstellung
answers-no-toml = Zeile { $line } ist kein gültiges TOML
answers-table-alerts = `alerts` ist ein Abschnitt, kein Wert: Schreiben Sie [alerts] und darunter `webhook_url_from`, oder [alerts.mail] mit `host` und `to`
answers-table-patients = `patients` ist ein Abschnitt, kein Wert: Schreiben Sie [patients] und darunter `file`
answers-unknown = unbekannte Antwort `{ $name }`; die nächste bekannte ist `{ $nearest }`
setup-first = das ist die erste Frage
setup-note = Hinweis: { $note }
setup-address = Adresse des Online-Dienstes:
setup-address-help = wie sein Betreiber sie nennt, zum Beispiel https://api.example.test
setup-answers = der Dienst antwortet
setup-meant = gemeint ist { $address }
setup-meant-host = gemeint ist { $host }, Port { $port }
setup-meant-folder = gemeint ist { $folder }
setup-no-mail-address = { $text } ist keine E-Mail-Adresse
setup-mount = das ist eine Windows-Freigabe und kein Ordner hier. Binden Sie sie zuerst ein: sudo mount -t cifs -o credentials=DATEI { $share } /mnt/briefe (und tragen Sie sie in /etc/fstab ein), dann geben Sie /mnt/briefe an
setup-account = Welches Konto:
setup-auth = Anmeldung beim Dienst:
setup-auth-key = mit API-Schlüssel
setup-auth-sign-in = im Browser
setup-keep-key = Weiter verwenden: { $key }?
setup-key-in-file = Schlüssel in { $file }
setup-key-given = eben angegebener Schlüssel
setup-key-environment = Schlüssel aus der Umgebungsvariablen
setup-key = API-Schlüssel:
setup-key-help = fügen Sie ihn ein, er wird nicht gezeigt; oder schreiben Sie @DATEI für eine Datei, in der er steht
setup-key-needed = ein Schlüssel ist nötig: Fügen Sie ihn ein
setup-key-needed-file = ein Schlüssel ist nötig: Nennen Sie seine Datei, oder "-" für die Standardeingabe
setup-accepted = angenommen; { $waiting }
setup-accepted-person = angenommen: { $person }; { $waiting }
setup-accepted-practice = angenommen: { $person } ({ $practice }); { $waiting }
setup-waiting = { $count ->
    [0] kein Brief wartet
    [one] 1 Brief wartet
   *[other] { $count } Briefe warten
}
setup-waiting-many = { $count } Briefe oder mehr warten
setup-pages = Adresse der Seiten des Dienstes, auf denen man sich anmeldet:
setup-pages-help = wie sein Betreiber sie nennt, zum Beispiel https://app.example.test
setup-client-id = Kennung der Anwendung:
setup-client-id-help = der Betreiber gibt sie (client_id) mit einem Geheimnis für diese Praxis aus
setup-client-secret = Geheimnis der Anwendung (client secret):
setup-client-secret-help = fügen Sie es ein, es wird nicht gezeigt; oder schreiben Sie @DATEI
setup-client-secret-needed = ein Geheimnis der Anwendung ist nötig
setup-port = Port der eingetragenen Rücksprungadresse:
setup-port-help = der Betreiber trägt http://127.0.0.1:PORT/callback ein, Zeichen für Zeichen; 0: irgendeiner
setup-port-expected = erwartet wird eine Zahl von 0 bis 65535
setup-port-taken = der Port { $port } ist belegt: Ein anderes Programm dieses Computers benutzt ihn. Wählen Sie einen anderen
setup-sign-in = Konto { $name } anmelden:
setup-sign-in-browser = jetzt, im Browser dieses Computers
setup-sign-in-paste = jetzt, in einem Browser anderswo: Die Adresse wird gezeigt, die Antwort hier eingefügt
setup-sign-in-later = später, mit { $command }
setup-destination = Welches Ziel:
setup-place = { $name }: { $place }
setup-another-place = ein weiterer Ort, zusätzlich zu den vorhandenen
setup-name = Ein kurzer Name dafür:
setup-name-help = Buchstaben, Ziffern, - und _; docsyncd status und das Protokoll nennen es so
setup-name-refused = nur a bis z, Ziffern, - und _, und keiner der Namen, die es schon gibt
setup-letters = Welche Briefe dorthin gehen:
setup-letters-all = alle, zusätzlich zu { $places }
setup-letters-also = die von bestimmten Arten, zusätzlich zu { $places }
setup-letters-only = die von bestimmten Arten, die dann nirgendwo sonst hingehen
setup-types = Welche Arten:
setup-types-help = durch Kommas getrennt: { $types }
setup-types-unknown = { $type } ist keine Art von Brief
setup-preset = Wohin die Briefe gehen:
setup-same-place = an denselben Ort wie jetzt: { $place }
setup-same-place-about = behält den Dateinamen und alles andere; nur was danach gefragt wird, kann sich ändern
setup-other = Meine Software ist hier nicht genannt
setup-other-about = was über andere bekannt ist, mit Namen, und die allgemeinen Wege
setup-other-france = Frankreich: Nichts Öffentliches sagt, wie Logosw, Julie, Visiodent, Veasy, Desmos und TM-XDI ein Dokument annehmen. Fragen Sie den Hersteller nach einem überwachten Ordner oder nach HPRIM (config/examples/hprim.toml).
setup-other-germany = Deutschland: Turbomed, Medistar und Medical Office nehmen GDT an (config/examples/gdt.toml); in charly muss jemand die Dateien von Hand importieren. Über DS-Win, Evident, medatixx und x.isynet ist nichts Öffentliches bekannt: Fragen Sie nach GDT, VDDS-media oder einem überwachten Ordner.
setup-other-english = Englischsprachige Länder: Dentally hat eine Schnittstelle auf Einladung, in EXACT muss jemand von Hand importieren, Dentrix hat einen Eingang für nicht abgelegte Dokumente. Über Eaglesoft, Curve, Carestream und Pearl ist nichts Öffentliches bekannt: Fragen Sie nach einem überwachten Ordner.
setup-source = Quelle: { $address }
setup-secret = die Eingabe wird nicht gezeigt; @DATEI für eine Datei, in der sie steht
setup-secret-there = die Eingabe wird nicht gezeigt; @DATEI für eine Datei, in der sie steht; leer: Was da ist, bleibt
setup-secret-optional = die Eingabe wird nicht gezeigt; @DATEI für eine Datei, in der sie steht; leer: gibt es nicht
setup-secret-removable = die Eingabe wird nicht gezeigt; @DATEI für eine Datei, in der sie steht; leer: Was da ist, bleibt; - entfernt es
setup-removes = - entfernt es
setup-secret-needed = ein Geheimnis ist nötig
setup-what-key = den Schlüssel
setup-what-client-secret = das Geheimnis der Anwendung
setup-what-secret = das Geheimnis
setup-pasted-quoted = darin stehen Anführungszeichen: Geben Sie { $what } allein an
setup-pasted-bearer = darin steht das Wort Bearer oder Authorization: Geben Sie { $what } allein an
setup-pasted-empty = das ist leer: Geben Sie { $what } an
setup-pasted-other = erwartet wird eine einzige Zeile aus Buchstaben, Ziffern und Zeichen, ohne Leerzeichen: Geben Sie { $what } an
setup-pasted-private-key = das ist kein privater Schlüssel: Nennen Sie seine Datei, wie in @/media/usb/id_ed25519
setup-pasted-empty-password = das ist leer: Ein Passwort ist nötig
setup-pasted-password = das ist kein Passwort: Erwartet wird eine einzige Zeile
setup-choice-encryption-starttls = STARTTLS, nach der Begrüßung (üblich)
setup-choice-encryption-tls = TLS von Anfang an
setup-choice-encryption-none = keine (nur zu einem Server auf diesem Computer)
setup-choice-on-lost-reply-resend = er wird erneut gesendet, unter derselben Nummer
setup-choice-on-lost-reply-hold = er wartet, bis jemand nachgesehen hat
setup-choice-profile-mhd = IHE MHD
setup-choice-profile-pdsm = PDSm (Frankreich)
setup-choice-profile-isik = ISiK (Deutschland)
setup-choice-profile-plain = nur FHIR
setup-choice-webhook-format-json = ein JSON-Objekt für jede Nachricht (docs/json.md)
setup-choice-webhook-format-teams = Microsoft Teams (ein Workflow)
setup-choice-webhook-format-slack = Slack, oder Mattermost
setup-choice-webhook-format-ntfy = ntfy
setup-choice-webhook-format-gotify = Gotify
setup-no-sub-folders = was die Briefe bekommt, liest keine Unterordner: Lassen Sie es weg, oder geben Sie einen ohne / und \ an
setup-tried = geprüft: Es funktioniert
setup-tried-program = geprüft: Es ist da und lässt sich starten
setup-tried-folder = geprüft: Dort wurde eine Datei geschrieben, benannt und gelöscht
setup-tried-folder-as = geprüft: Dort können Dateien geschrieben werden, auch von { $user }, dem Benutzer des Dienstes
setup-tried-host = geprüft: { $host } antwortet
setup-try-again = Noch einmal versuchen?
setup-give = Der Ordner gehört nicht { $user }, dem Benutzer des Dienstes. Ihm den Ordner geben?
setup-give-answer = { $why }; oder antworten Sie give_folder = true
setup-stopped = der Benutzer des Dienstes, { $user }, darf nicht durch { $folder }: chmod o+x { $folder }
setup-may-not-file = der Benutzer des Dienstes, { $user }, darf nicht in { $folder } schreiben (Modus { $mode }, von Benutzer { $owner }): Geben Sie ihm den Ordner mit chown { $user } { $folder }
setup-may-not-read = der Benutzer des Dienstes, { $user }, darf { $folder } nicht lesen: Erlauben Sie es mit chmod o+r { $folder }, oder mit chgrp { $user } { $folder } und chmod g+r { $folder }
setup-you = Sie selbst
setup-reader = Wer die Briefe dort liest:
setup-reader-help = ein Benutzer oder eine Gruppe dieses Computers; leer: nur { $user } (und root)
setup-reader-takes = Nimmt { $reader } sie auch weg (verschiebt oder löscht sie)?
setup-reader-gets = die Gruppe von { $reader } darf lesen: 0640 für Dateien, { $mode } für Ordner
setup-reader-stopped = { $reader } darf nicht durch { $folder }: Erlauben Sie es mit chmod o+x { $folder }
setup-no-reader = dieser Computer kennt weder einen Benutzer noch eine Gruppe { $reader }
setup-no-group = dieser Benutzer hat keine Gruppe
setup-only-root-gives = nur root darf { $folder } einer Gruppe geben: Führen Sie setup mit sudo aus, oder zuerst sudo chgrp { $group } { $folder } und sudo chmod 2750 { $folder } (Ziel { $name })
setup-only-root = nur root (sudo) kann für einen anderen Benutzer einrichten
setup-group = { $name } ist eine Gruppe, kein Benutzer
setup-server-key = Der Server zeigt { $fingerprint } ({ $algorithm }). Sagt sein Betreiber dasselbe?
setup-server-key-help = fragen Sie am Telefon oder schriftlich; an einen Server mit einem anderen Schlüssel wird nichts gesendet
setup-server-key-answer = der Server zeigt { $fingerprint } ({ $algorithm }): Fragen Sie seinen Betreiber, ob das stimmt, und antworten Sie host_key = "{ $fingerprint }"
setup-server-key-other = NICHT der bekannte Schlüssel, { $known }: Wenn der Betreiber ihn nicht geändert hat, fängt jemand die Verbindung ab
setup-server-key-refused = an einen unbekannten Server wird nichts gesendet
setup-list = Patientenliste, wie die Praxissoftware sie exportiert:
setup-list-help = eine CSV-Datei mit den Spaltennamen in der ersten Zeile (docs/patients.md); leer: keine
setup-column-number = Nummer des Patienten
setup-column-last-name = Nachname
setup-column-first-name = Vorname
setup-column-date-of-birth = Geburtsdatum
setup-column-former-name = früherer Nachname
setup-column = Welche Spalte ist „{ $holds }“:
setup-no-column = welche Spalte ist „{ $holds }“? Die Datei hat { $columns }
setup-in-column = { $holds } in `{ $name }`
setup-patients = { $count } Patienten ({ $facts }); { $columns }
setup-no-patients = sie enthält keine Patienten: Exportieren Sie sie noch einmal
setup-match = Brief zu { $who } → { $number }
setup-number = Nummer { $number }
setup-no-match = noch ist kein Brief zu sehen, um es zu prüfen
setup-right = Stimmt das?
setup-right-help = nein: eine andere Datei
setup-written-with = Zeichensatz oder Datum der Datei:
setup-day-first = Tag zuerst
setup-month-first = Monat zuerst
setup-cp850 = DOS Westeuropa (cp850)
setup-cp437 = DOS USA (cp437)
setup-iso-8859-15 = iso-8859-15
setup-another-file = keines davon: eine andere Datei
setup-by-number = Briefe so benennen: { $name }?
setup-by-number-help = nein: { $now }
setup-more = Weitere Einstellungen:
setup-more-nothing = fertig
setup-more-nothing-told = fertig, ohne Benachrichtigung
setup-lose = Zurückgehen und verwerfen, was hier eben eingerichtet wurde?
setup-none = { $what ->
    [place] nirgendwohin
    [reader] niemand sonst
    [address] keine
    [alarm] keine
    [key] keiner
    [account] keiner
    [patients] keine
    [confirm] an nichts
    [page] keine
    [practice] nicht angegeben
   *[other] nichts
}
setup-more-there = (eingerichtet; ändern)
setup-more-patients = Die Nummer jedes Patienten in der Praxis
setup-more-patients-about = aus einer Liste, die ihre Software exportiert; Dateinamen können sie enthalten
setup-more-confirm = Sicher sein, dass die Praxissoftware jeden Brief übernommen hat
setup-more-confirm-about = erkennbar daran, was sie mit der Datei tut; erst dann erfährt der Dienst davon
setup-confirm = Was die Praxissoftware mit einem Brief tut:
setup-confirm-none = nichts: übernommen, sobald er dort liegt
setup-confirm-taken = sie nimmt die Datei weg: übernommen, wenn sie nicht mehr da ist
setup-confirm-moved = sie verschiebt ihn in einen Unterordner: übernommen, wenn er dort liegt
setup-confirm-renamed = sie benennt ihn um: übernommen, wenn er unter anderem Namen dort liegt
setup-confirm-sidecar = sie schreibt in die Begleitdatei: übernommen, wenn die Zeile dort steht
setup-confirm-folder = In welchen Unterordner:
setup-confirm-line = Welche Zeile:
setup-confirm-line-help = SCHLÜSSEL=WERT
setup-test = Jetzt an jeden eine Nachricht senden, um sie ankommen zu sehen?
setup-test-refused = nicht alle haben die Nachricht angenommen; docsyncd alerts test versucht es noch einmal
setup-page = Den Status von docsyncd im Browser dieses Computers anzeigen?
setup-page-help = nur unter 127.0.0.1; Namen von Patienten und Dateien brauchen den Schlüssel, den docsyncd open bringt
setup-page-port = Port der Seite:
setup-page-port-help = unter 127.0.0.1, für den Browser dieses Computers
setup-ledger = Wo docsyncd seine Datenbank speichern darf:
setup-ledger-help = eine Datei auf einem lokalen Datenträger; darin steht, welcher Brief wohin ging
setup-no-ledger = die Datenbank { $file } lässt sich nicht schreiben{ $whom } ({ $why })
setup-give-file = der Benutzer des Dienstes ist { $user }: Geben Sie ihm die Datei mit chown { $user } { $file }
setup-shown-waiting = Was wartet, würde so abgelegt
setup-shown-known = Briefe würden so abgelegt
setup-shown-invented = Noch ist kein Brief zu sehen; ein erfundener würde so abgelegt
setup-shown-person = der Brief …{ $who } wartet auf jemanden: { $why }
setup-write = { $file } schreiben?
setup-write-yes = ja
setup-write-change = vorher eine Antwort ändern
setup-write-no = nein, alles lassen, wie es ist
setup-change = Was soll geändert werden?
setup-change-done = nichts weiter
setup-part-address = die Adresse des Online-Dienstes: { $value }
setup-part-account = das Konto und sein Schlüssel oder seine Anmeldung: { $value }
setup-part-place = wohin die Briefe gehen ({ $name }): { $value }
setup-part-reader = wer sie dort liest ({ $name }): { $value }
setup-part-practice = Name der Praxis, und wen man anruft: { $value }
setup-part-patients = die Patientenliste der Praxis: { $value }
setup-part-confirm = woran erkennbar ist, dass die Software jeden Brief übernommen hat ({ $name }): { $value }
setup-part-page = die Seite im Browser: { $value }
setup-remove-mail = die Benachrichtigung per E-Mail entfernen
setup-remove-webhook = die Benachrichtigung über den Webhook entfernen
setup-remove-heartbeat = die Überwachung entfernen
setup-remove-patients = die Patientenliste entfernen
setup-remove-page = die Seite im Browser entfernen
setup-removed = beim Schreiben wird es entfernt
setup-remove-needed = eine andere Einstellung braucht es: Ändern Sie zuerst diese ({ $why })
setup-rights = Rechte an { $file } geändert
setup-rights-refused = die Rechte an { $file } ließen sich nicht ändern, und nichts wurde geschrieben
setup-secret-written = { $file } geschrieben, für niemand anderen lesbar
setup-given = { $file } an { $user } gegeben
setup-give-refused = { $file } lässt sich nicht an den Dienst geben
setup-stays = { $file } bleibt, wie es ist
setup-written = { $file } geschrieben
setup-written-kept = { $file } geschrieben; was vorher darin stand, steht in { $kept }
setup-write-refused = { $file } kann nicht geschrieben werden
setup-may-not-write = in { $folder } lässt sich nicht schreiben{ $whom } ({ $why }). Dort schreibt setup: Führen Sie es mit sudo aus, oder wählen Sie mit --config DATEI eine andere Datei
setup-may-not-write-windows = in { $folder } lässt sich nicht schreiben{ $whom } ({ $why }). Dort schreibt setup: Öffnen Sie die Konsole als Administrator, oder wählen Sie mit --config DATEI eine andere Datei
setup-tried-as-root = (als root geprüft, nicht als { $user }, der dieses Programm nicht starten konnte)
setup-fail-first = Beheben Sie zuerst, was mit FAIL markiert ist.
setup-runs-already = docsyncd läuft schon und übernimmt diese Konfiguration. Der Status: { $command }
setup-start = Den Dienst starten: { $command }
setup-what-it-does = Was er tut: { $command }
setup-install = Wenn das MSI ihn nicht installiert hat: { $command }
setup-once = Einmal ablegen, was wartet: { $command }
setup-until = Laufen lassen, bis es beendet wird: { $command }
setup-open = Der Status im Browser: { $command }

## Was nicht ging: Der genaue Grund steht dahinter in Klammern, auf Englisch.

told-configuration = die Konfiguration ist nicht benutzbar
told-configuration-at = die Konfiguration ist nicht benutzbar: { $place }
told-no-configuration = { $file }: Diese Konfigurationsdatei gibt es nicht. docsyncd setup fragt, was nötig ist, und schreibt sie; oder geben Sie Ihre mit --config DATEI an
told-refused-key = der Dienst lehnt diesen Schlüssel ab: Prüfen Sie ihn, oder bitten Sie den Betreiber des Dienstes um einen neuen
told-busy = der Dienst bittet zu warten: Versuchen Sie es später noch einmal
told-fault = der Dienst ist gestört: Versuchen Sie es später noch einmal
told-ledger = die Datenbank von docsyncd ist nicht benutzbar
told-ledger-new = die Datenbank lässt sich dort nicht anlegen
told-log = die Protokolldatei lässt sich nicht schreiben
told-failed = das hat nicht funktioniert
told-answer = diese Angabe passt nicht
told-answer-address = das ist keine Webadresse: Schreiben Sie sie wie https://api.example.test
told-answer-unencrypted = diese Adresse ist nicht verschlüsselt: Schreiben Sie sie mit https://
told-answer-address-alone = geben Sie die Adresse allein an, ohne Benutzernamen und ohne das, was hinter ? oder # steht
told-answer-whole-path = schreiben Sie den ganzen Pfad, ohne ~
told-answer-duration = erwartet wird eine Zahl mit ihrer Einheit, zum Beispiel 30s, 15m, 6h oder 7d
told-note = zu beachten
told-good = geprüft
note-key = Schlüssel des Servers: { $key }
note-durable = jeder Brief wird dort sicher gespeichert
note-no-overwriting = nichts wird dort überschrieben
note-only-size = nur die Größe wird zurückgelesen
note-recipients = kein Empfänger wurde geprüft, da er bei jedem Brief ein anderer ist
note-mail-size = E-Mails bis { $key }
note-no-sign-in = die Verbindung funktioniert; check_url würde auch die Zugangsdaten prüfen
note-finds-letters = die Suche nach einem Brief funktioniert
note-finds-patients = die Suche nach einem Patienten funktioniert
note-searches = jeder Brief wird gesucht, bevor er gesendet wird
note-not-written = zur Probe wurde nichts geschrieben, da der Schlüssel nicht löschen darf
note-read-back = jeder Brief wird zurückgelesen und verglichen
note-not-started = sein Programm ist { $key }; zur Probe wird es nicht gestartet
note-no-message = die Verbindung funktioniert; zur Probe wird keine Nachricht gesendet
note-lost-waits = geht eine Antwort verloren, wartet der Brief auf eine Person
note-lost-again = geht eine Antwort verloren, wird der Brief noch einmal gesendet
told-api = der Dienst hat nicht wie erwartet geantwortet
told-unreachable = unter dieser Adresse antwortet der Dienst nicht: Prüfen Sie sie
told-refused = der Dienst lehnt diesen Zugang ab
told-broken-off = die Verbindung zum Dienst brach ab
told-signed-out = das Konto muss sich neu anmelden
told-no-key = das Konto hat keinen brauchbaren Schlüssel und keine Anmeldung
told-not-allowed = dem Konto fehlt das Recht dazu: Bitten Sie den Betreiber des Dienstes darum
told-not-the-service = unter dieser Adresse antwortet ein anderes Programm: Ist sie vollständig, mit ihrem Pfad?
told-no-folder = den Ordner { $folder } gibt es nicht: Ist er angelegt und die Freigabe verbunden?
told-folder = der Ordner { $folder } ist nicht benutzbar
told-reader = wer die Briefe dort lesen soll, kann es nicht
told-program = das Programm lässt sich nicht starten: Prüfen Sie Namen und Pfad
told-mail-server = der Mailserver funktioniert so nicht: Prüfen Sie Namen, Port, Benutzer und Passwort
told-server = dieses Ziel funktioniert so nicht: Prüfen Sie Adresse, Benutzer und Passwort
told-no-folder-there = diesen Ordner gibt es auf dem Server nicht: Legen Sie ihn dort an, oder berichtigen Sie ihn
told-alarm = auf diesem Weg lässt sich niemand benachrichtigen
told-alarm-unencrypted = der Mailserver bietet keine Verschlüsselung an (STARTTLS), und ohne wird nichts gesendet
told-recipient = einer der Empfänger wird abgelehnt
told-port = der Port ist nicht benutzbar: Vielleicht belegt ihn ein anderes Programm
told-certificate = das Zertifikat der Seite ist nicht benutzbar
told-certificate-doubt = Browser trauen dem Zertifikat der Seite nicht, oder bald nicht mehr
told-webhook = das Konto kann keinen Webhook eintragen
told-sign-in = niemand wurde angemeldet
told-list = die Patientenliste { $file } ist nicht benutzbar
told-list-missing = die Datei { $file } gibt es nicht: Exportieren Sie die Liste dorthin
told-list-unreadable = docsyncd darf die Patientenliste { $file } nicht lesen
told-list-later = die Patientenliste { $file } ist gerade nicht lesbar: Vielleicht läuft der Export noch, oder ihre Freigabe fehlt
told-list-doubt = sie ist vielleicht nicht vollständig
told-list-workbook = { $file } ist eine Arbeitsmappe von Excel oder einem ähnlichen Programm: Speichern Sie sie dort als CSV UTF-8, und nennen Sie diese Datei
told-list-encoding = Buchstaben in { $file } sind nicht lesbar: Exportieren Sie die Datei als CSV UTF-8
told-list-columns = die erste Zeile von { $file } nennt nicht die nötigen Spalten
told-list-two-ways = die Daten in { $file } lassen sich auf zwei Arten lesen: Tag oder Monat zuerst
told-list-dates = ein Geburtsdatum in { $file } ist nicht lesbar
told-list-content = { $file } ist so nicht brauchbar: Exportieren Sie die Datei noch einmal
refused-by-ledger = die Konfiguration ist nicht benutzbar ({ $why }); dies richtet sich nach der Datenbank { $ledger }
no-account = es gibt kein Konto „{ $name }“; am ähnlichsten ist „{ $nearest }“
account-all-by-key = kein Konto braucht eine Anmeldung: Alle haben einen API-Schlüssel. Setzen Sie auth = "oauth" für eines, das sich anmelden soll
account-by-key = das Konto { $name } hat einen API-Schlüssel und braucht keine Anmeldung; mit auth = "oauth" brauchte es eine. Ein neuer Schlüssel gehört in { $place }
account-not-there = es gibt kein Konto { $name }, das sich anmeldet; es gibt: { $names }
account-which = mehrere Konten melden sich an: Wählen Sie eines mit --account ({ $names })
root-made-folder = Warnung: { $folder } wurde angelegt und gehört root, der dies ausgeführt hat. Hat der Dienst einen anderen Benutzer, kann er dort nicht schreiben: Geben Sie ihm den Ordner mit chown -R BENUTZER { $folder }
typed-unknown-option = unbekannte Option: { $what }
typed-unknown-command = unbekannter Befehl: { $what }
typed-no-command = es fehlt ein Befehl
typed-missing = es fehlt: { $what }
typed-conflict = passt nicht zum Rest: { $what }
typed-value = diese Angabe passt nicht: { $what }
typed-otherwise = dieser Befehl enthält einen Fehler
typed-similar = ähnlich: { $what }
typed-possible = möglich: { $what }
typed-usage = Aufruf: { $usage }
typed-more = mehr sagt derselbe Befehl mit --help (auf Englisch)
named-several = { $text } ist Teil von { $count } Kennungen (uuid): Schreiben Sie mehr von der gemeinten

## `docsyncd check`

check-what-config = Konfiguration
check-what-account = Konto { $name }
check-what-api = Dienst
check-what-destination = Ziel { $name }
check-what-patients = Patientenliste
check-what-alerts-mail = Meldung per E-Mail
check-what-alerts-webhook = Meldung per Webhook
check-what-alerts-heartbeat = Überwachung
check-what-alerts-mail-of = Meldung per E-Mail von { $name }
check-what-alerts-webhook-of = Meldung per Webhook von { $name }
check-what-alerts = Meldungen
check-what-status-page = Statusseite
check-what-certificate-of-the-status-page = Zertifikat der Seite
check-what-webhook = Webhook
check-what-webhook-of = Webhook von { $name }
check-what-ledger = Datenbank
check-what-log = Protokoll
check-what-spool = Speicherplatz
list-dates = Datum wie { $date }
check-list-unused = { $file }: Kein Ziel verwendet die Liste: Schreiben Sie {"{{"} patient.number {"}}"} in den file_name eines Ziels, oder docsyncd setup bietet es an
check-answers = der Dienst antwortet; { $waiting }
check-answers-as = der Dienst antwortet; { $waiting }; angemeldet: { $user }
check-answers-practice = der Dienst antwortet; { $waiting }; Praxis: { $practice }
check-answers-as-practice = der Dienst antwortet; { $waiting }; angemeldet: { $user }, Praxis: { $practice }
check-waiting = { $count ->
    [0] kein Brief wartet
    [one] 1 Brief ist dem Dienst noch nicht gemeldet
   *[other] { $count } Briefe sind dem Dienst noch nicht gemeldet
}
check-waiting-many = { $count } Briefe oder mehr sind noch nicht abgelegt
check-clock-ahead = die Uhr dieses Computers geht gegenüber der des Dienstes { $apart } vor: Lassen Sie sie über das Netz stellen ({ $how })
check-clock-behind = die Uhr dieses Computers geht gegenüber der des Dienstes { $apart } nach: Lassen Sie sie über das Netz stellen ({ $how })
check-clock-windows = Einstellungen, Zeit, Uhrzeit automatisch festlegen
check-alarm = { $host } antwortet; docsyncd alerts test sendet eine Nachricht
check-args = `args` nennt den Patienten, und andere Benutzer dieses Computers sehen Argumente: Lassen Sie das Programm die Standardeingabe lesen
check-works = funktioniert
check-reads = { $works }; { $reader } kann lesen, was abgelegt wird
check-ledger-runs = { $path }; docsyncd läuft
check-ledger-idle = { $path }; docsyncd läuft nicht
check-ledger-new = { $path } wird beim ersten Start angelegt
check-page-served = { $address }, vom laufenden docsyncd bereitgestellt
check-page-silent = docsyncd sagt, dass es { $address } bereitstellt, und antwortet dort nicht
check-page-late = { $address } ist frei, aber docsyncd stellt sie noch nicht bereit: Es versucht es alle 30 s
check-page-free = { $address } ist frei; docsyncd wird sie bereitstellen
check-page-certificate = das Zertifikat und sein Schlüssel sind benutzbar
check-webhook-heard = docsyncd hört auf http://{ $address }/
check-webhook-late = http://{ $address }/ ist frei, aber docsyncd hört dort noch nicht: Es versucht es alle 30 s
check-webhook-free = http://{ $address }/ ist frei; docsyncd wird dort hören
check-webhook-may = das Konto darf einen eintragen: Es wurde versucht und zurückgenommen
check-full = der Datenträger mit { $path } ist voll: Schaffen Sie Platz darauf
check-short = auf dem Datenträger mit { $path } sind { $left } frei, und was wartet, braucht etwa { $needed }: Schaffen Sie Platz darauf
check-no-patients = { $file } enthält keine Patienten: Jeder Brief, der eine Nummer braucht, wartet auf jemanden
check-doubt = { $list }; { $doubt }: Wenn das stimmt, ist nichts zu tun: Die Liste zählt, wenn sie sich eine Minute lang nicht geändert hat
check-not-held = { $file }, Zeile { $rows }: Das Ziel `{ $name }` kann die Patientennummer nicht unverändert aufnehmen, Briefe dieses Patienten warten dann auf jemanden
check-rows-more = { $rows } und { $more } weitere
check-list-defect = { $file }: Das Lesen endete mittendrin, das ist ein Fehler von docsyncd
check-patients = { $count } Patienten in { $file } ({ $facts })
check-without-number = { "" }; { $rows } ohne Nummer, die nicht zählen
check-without-date = { "" }; { $rows } ohne Geburtsdatum, denen kein Brief von selbst zugeordnet wird

## `docsyncd assign`

assign-no-list = es gibt keine Patientenliste, nach der Briefe zugeordnet werden: Fügen Sie einen Abschnitt [patients] hinzu (docs/patients.md)
assign-which = welcher Brief? Nennen Sie ihn: { $command }
assign-ended = Brief { $uuid }: Sein Patient ist nicht bekannt: Er ist abgeschlossen oder noch nicht heruntergeladen; { $command } zeigt, wie es um ihn steht
assign-not-read = Brief { $uuid }: Er wurde schon abgelegt, und der Dienst sagt gerade nicht, wer sein Patient ist
assign-not-listed = Brief { $uuid }: Niemand in der Liste der Praxis hat diese Nummer ({ $number }): Berichtigen Sie sie, oder schreiben Sie --not-listed, wenn der Patient dort neu ist
assign-no-number = Brief { $uuid }: Eine Nummer hat mindestens ein Zeichen und kein unsichtbares
assign-shared = Brief { $uuid }: Die Liste der Praxis hat zwei Personen unter dieser Nummer: Berichtigen Sie das zuerst dort
assign-document = Brief { $uuid }
assign-in-cloud = beim Online-Dienst: { $last } { $first }, geboren { $born }
assign-cloud = beim Online-Dienst
assign-list = in der Liste der Praxis
assign-last = Nachname
assign-first = Vorname
assign-born = Geburtsdatum
assign-differs = anders
assign-known = die Patientennummer ist { $number }: Niemand muss entscheiden
assign-changed = er wurde schon zugeordnet, und seitdem hat sich ein Name oder ein Geburtsdatum geändert
assign-nobody = in der Liste steht niemand mit ähnlichem Namen
assign-may-be = mögliche Patienten:
assign-column-number = Nummer
assign-column-last-name = Nachname
assign-column-first-name = Vorname
assign-column-born = geboren
assign-column-differs = was abweicht
assign-column-letter = Brief
assign-column-in-list = in der Liste
assign-column-assigned = zugeordnet
assign-column-by = von
assign-nothing = nichts
assign-part-of-last-name = nur ein Teil des Nachnamens ist gleich
assign-part-of-first-name = nur ein Teil des Vornamens ist gleich
assign-swapped-names = Nach- und Vorname sind vertauscht
assign-day-and-month = Tag und Monat des Geburtsdatums sind vertauscht
assign-one-digit = eine Ziffer des Geburtsdatums
assign-no-date-of-birth = ein Geburtsdatum fehlt
assign-first-name = der Vorname (ein Zwilling?)
assign-last-name = der Nachname
assign-date-of-birth = das Geburtsdatum
assign-shared-number = die Liste hat zwei Personen unter dieser Nummer
assign-settles = { $command } ordnet ihn zu
assign-unlisted = die Nummer { $number } steht nicht in der Liste der Praxis
assign-none = nichts wurde zugeordnet
assign-done = { $uuid }: dem Patienten mit der Nummer { $number } zugeordnet ({ $patient }), auch für künftige Briefe; { $when }
assign-anew = { $uuid }: Sein Patient hat die Nummer { $number } ({ $patient }), und er wird damit noch einmal abgelegt; { $when }. Die Kopie mit der anderen Nummer bleibt, wo sie ist: { $command } nennt den Ort; entfernen Sie sie dort
assign-others = { $count ->
    [one] Ein weiterer Brief dieses Patienten wurde früher mit einer anderen Nummer abgelegt und bleibt dort: { $letters }. Wenn diese Nummer falsch war, führen Sie { $command } auch für ihn aus
   *[other] { $count } weitere Briefe dieses Patienten wurden früher mit einer anderen Nummer abgelegt und bleiben dort: { $letters }. Wenn diese Nummer falsch war, führen Sie { $command } auch für jeden von ihnen aus
}
assign-not-in-list = nicht in der Liste
assign-nobody-asked = hier kann niemand bestätigen, dass es dieser Patient ist: Vergleichen Sie die Angaben oben, und schreiben Sie --yes
assign-question-again = Sind Sie sicher? Dem Patienten mit der Nummer { $number } zuordnen?
assign-a-number = NUMMER
who-page = Statusseite, Browser { $browser }
assign-question = Dem Patienten mit der Nummer { $number } zuordnen?
assign-question-anew = Er wurde mit einer anderen Nummer abgelegt und wird noch einmal abgelegt. Ist das der Patient mit der Nummer { $number }?
assign-not-assigned = niemand hat den Brief { $uuid } zugeordnet
assign-removed = { $uuid }: nicht mehr zugeordnet; abgelegte Briefe bleiben, wo sie sind

## `docsyncd retry` und `poll`

retry-nothing = nichts wird noch einmal versucht
retry-moved = { $uuid }: wird noch einmal versucht, jetzt: { $state }
retry-due = { $uuid }: hat gewartet ({ $state }), ist jetzt an der Reihe
retry-filed = { $uuid }: { $state }; er liegt schon dort: docsyncd sieht nur nach, ob er übernommen ist
retry-none-failed = kein Brief ist fehlgeschlagen: Es gibt nichts noch einmal zu versuchen
retry-done = { $count ->
    [one] 1 Brief wird noch einmal versucht
   *[other] { $count } Briefe werden noch einmal versucht
}; { $when }
retry-question = { $count ->
    [one] Der Brief { $uuid } ist schon abgelegt und dem Dienst gemeldet. Ihn noch einmal abholen, ablegen und melden?
   *[other] { $count } Briefe sind schon abgelegt und dem Dienst gemeldet. Sie noch einmal abholen, ablegen und melden?
} Eine Datei, die mit demselben Inhalt da ist, bleibt, wie sie ist.
retry-nobody-asked = { $count ->
    [one] der Brief { $uuid } ist schon abgelegt und dem Dienst gemeldet, und niemand kann hier gefragt werden, ob er
   *[other] { $count } Briefe sind schon abgelegt und dem Dienst gemeldet, und niemand kann hier gefragt werden, ob sie
} noch einmal abgelegt werden { $count ->
    [one] soll
   *[other] sollen
}: Schreiben Sie --yes dazu
retry-at-once = docsyncd kümmert sich sofort darum
retry-not-running = docsyncd läuft nicht: Es geht weiter mit { $command } oder sync
retry-removed = { $uuid }: Die alte Fassung ist nicht mehr da
retry-arrived = { $uuid }: angekommen, zählt als abgelegt; { $when }
retry-not-arrived = beim Brief { $uuid } muss niemand sagen, dass er angekommen ist: { $command } zeigt, wie es um ihn steht
retry-unclear = beim Brief { $uuid } fehlt noch der Nachweis, und eine alte Kopie liegt daneben: Ist die alte Kopie entfernt, bestätigen Sie zuerst das ({ $command })
retry-which = welche Briefe? Nennen Sie sie ({ $command }), oder alle fehlgeschlagenen ({ $all })
retry-which-waiting = welche Briefe? Nennen Sie sie ({ $command }); keiner ist fehlgeschlagen, { $count ->
    [0] und keiner wartet
    [one] 1 Brief wartet:
   *[other] { $count } Briefe warten:
}
retry-which-failed = welche Briefe? Nennen Sie sie ({ $command }), oder alle fehlgeschlagenen ({ $all })
    { $count ->
        [one] 1 Brief ist
       *[other] { $count } Briefe sind
    } fehlgeschlagen:
retry-all-of-them = { $command } zeigt alle
retry-beside = Doppelt abgelegt, als alte Fassung oder bei einem anderen Patienten; ist die alte Kopie dort entfernt, bestätigen Sie es ({ $command }):
retry-paused = { $scope } ist angehalten: { $why }. Es wird von selbst wieder versucht, das nächste Mal am { $next }
retry-by-themselves = Sie werden von selbst wieder versucht; ein genannter sofort
retry-check = Führen Sie docsyncd check aus, um zu sehen, ob es wieder geht
retry-check-or-sync = Führen Sie docsyncd check aus, um zu sehen, ob es wieder geht; docsyncd sync versucht sofort, was angehalten ist
poll-not-running = docsyncd läuft nicht, also sieht niemand nach: Starten Sie es ({ $start }), oder sehen Sie einmal nach mit { $sync }
poll-no-answer = das Programm, das die Datenbank benutzt, hat innerhalb von { $seconds } s nicht geantwortet (ein docsyncd sync fragt von selbst ab)
poll-done = docsyncd sieht jetzt nach und versucht sofort, was auf ein Ziel oder ein Konto wartet

forget-question = Die gespeicherten Namen und Ablageorte von { $which } löschen? Sie lassen sich nicht zurückholen.
forget-nothing = nichts wurde gelöscht
forget-done = { $uuid }: Namen und Ablageorte sind gelöscht; dass er abgelegt wurde, und seine Prüfsumme bleiben
forget-open = { $uuid } ist noch in Arbeit ({ $state }) und behält seine Namen bis zum Ende: { $command } zeigt, wie es um ihn steht
forget-traces = Spuren der Namen sind vielleicht noch in unbenutzten Teilen der Datenbank, die sich nicht neu schreiben ließ ({ $why }). Führen Sie denselben Befehl später noch einmal aus.
forget-output = { $uuid }: Was ein Programm über ihn ausgegeben hat, im Ordner `output` neben der Datenbank, lässt sich nicht löschen ({ $why }). Führen Sie denselben Befehl später noch einmal aus.
service-no-systemd = dieses System wurde nicht von systemd gestartet, und docsyncd kennt hier keine andere Dienstverwaltung. Lassen Sie Ihre `docsyncd run` ausführen: Es protokolliert auf die Fehlerausgabe, liest seine Konfiguration bei SIGHUP neu und endet bei SIGTERM innerhalb von 30 s mit 0, wenn das Laufende fertig ist
service-no-unit = es gibt kein { $unit }: Die deb- und rpm-Pakete von docsyncd bringen es mit, samt Benutzer und Ordnern
service-installed-runs = { $unit } läuft und startet mit dem System
service-installed = { $unit } startet ab jetzt mit dem System; sofort: docsyncd service start
service-uninstalled = { $unit } läuft nicht und startet nicht mehr mit dem System; Konfiguration, Datenbank und Schlüssel bleiben. Was das Paket installiert hat, wird mit dem Paket entfernt
service-runs = { $unit } läuft
service-runs-not = { $unit } läuft nicht
service-not-read = kein Dienst liest { $file }: docsyncd.service liest { $default }, und docsyncd@NAME.service liest { $folder }/NAME.toml, mit Buchstaben, Ziffern und _ . : - im NAMEN
service-not-done = systemd hat es nicht getan. Das Protokoll des Dienstes sagt, warum: journalctl -u { $unit } -n 20
service-only-root = das darf nur root: { $command }
service-windows-removed = der Dienst ist entfernt; Konfiguration, Datenbank und Protokolle bleiben
service-windows-none = es gab keinen Dienst
service-windows-runs = der Dienst läuft
service-windows-runs-already = der Dienst läuft schon
service-windows-stopped = der Dienst ist angehalten
service-windows-runs-not = der Dienst läuft nicht
service-windows-missing = der Dienst ist nicht installiert: docsyncd service install
sync-runs = docsyncd läuft und tut das schon: docsyncd poll lässt es jetzt nachsehen ({ $file } wird von einem anderen docsyncd benutzt)
sync-account = Konto { $name }: { $why }
sync-done = { $now } eben abgelegt; insgesamt { $reported } abgelegt, { $failed } fehlgeschlagen, { $waiting } warten noch
sync-paused = { $scope } ist angehalten: { $why }
sync-unreadable = die Liste zeigt Briefe ohne brauchbare Kennung ({ $count } auf einer Seite): Fragen Sie den Hersteller der Software
sync-documents = Briefe
## `docsyncd preview`

preview-not-filed = er würde nicht abgelegt
preview-not-read = was für das Konto { $account } wartet, ist nicht lesbar
preview-more = es gibt mehr: { $command }
preview-there = (schon da)
preview-taken = dieser Name ist vergeben; außer an diesen Brief selbst:
preview-accounts = { $count ->
    [one] das Konto { $names }
   *[other] die Konten { $names }
}
preview-unknown = was für { $accounts } wartet, ist nicht bekannt
preview-nothing = nichts wartet
preview-nothing-for = für { $accounts } wartet nichts; { $unknown }
preview-at-least = mindestens { "" }
preview-of-more = { $shown } von mehr als { $total } Briefen, die warten
preview-all = { $least }{ $total ->
    [one] 1 Brief wartet
   *[other] { $total } Briefe warten
}
preview-of = { $shown } von { $least }{ $total } Briefen, die warten
preview-end = { $how_many }{ $unknown }; nichts wurde abgelegt oder gemeldet

## `docsyncd reconcile`, `alerts test` und `open`

reconcile-letters = Briefe
reconcile-not-compared = { $scope } ließ sich nicht vergleichen
reconcile-repaired = { $count ->
    [one] 1 Brief wird
   *[other] { $count } Briefe werden
} in Ordnung gebracht; { $when }
reconcile-of-destination = Ziel { $name }: { $what }
reconcile-of-account = Konto { $name }: { $what }
reconcile-missing = abgelegt, und er liegt nicht mehr da
reconcile-other-content = an seinem Platz liegt etwas anderes; nichts wird überschrieben
reconcile-not-synchronized = gemeldet, und der Dienst führt ihn als nicht abgeholt
reconcile-ended-at-api = hier noch offen, und der Dienst führt ihn nicht mehr
reconcile-more = und { $count } weitere
reconcile-agrees = alles stimmt überein
reconcile-agrees-as-far = was sich ansehen ließ, stimmt überein
reconcile-differences = { $count ->
    [one] 1 Abweichung
   *[other] { $count } Abweichungen
}
reconcile-looked-at = { $differing }; an ihrem Platz angesehen: { $count }
reconcile-not-taken = nichts zu vergleichen: { $count ->
    [one] 1 Brief ist abgelegt, noch nicht übernommen
   *[other] { $count } Briefe sind abgelegt, noch nicht übernommen
}
reconcile-cannot = { "" }, nicht anzusehen: { $count }
reconcile-new = { "" }, noch nicht abgeholt: { $count }
reconcile-emptied = bei { $destination } wird nichts noch einmal abgelegt: Alle { $letters } Briefe, die dort gesucht wurden, fehlen. Ist die Freigabe nicht verbunden, oder wurde der Ordner verschoben? Wenn sie wirklich weg sind, legen Sie einen davon neu ab (`docsyncd retry UUID`), dann führen Sie dies noch einmal aus
reconcile-file-again = { $uuid }: bei { $destination } noch einmal ablegen
reconcile-report-again = { $uuid }: dem Dienst noch einmal melden
reconcile-open = { $count ->
    [one] 1 Brief
   *[other] { $count } Briefe
} hier offen: Die nächsten Abfragen entscheiden darüber
reconcile-no-account = { $uuid } lässt sich nicht noch einmal ablegen: Sein Konto { $account } ist nicht eingerichtet
reconcile-not-given = { $uuid } lässt sich nicht noch einmal ablegen: Der Dienst gibt ihn nicht heraus
reconcile-nobody-asked = nichts wird noch einmal abgelegt, da hier niemand gefragt werden kann: { $command }
reconcile-question = { $count ->
    [one] 1 Brief noch einmal ablegen? Hat die Praxissoftware ihn schon übernommen, ist er
   *[other] { $count } Briefe noch einmal ablegen? Hat die Praxissoftware sie schon übernommen, sind sie
} doppelt da.
reconcile-left = der Brief { $uuid } bleibt, wie er ist: Er ist unterwegs, oder seine Rückmeldung ist noch nicht angenommen
alerts-nobody = niemand wird benachrichtigt: [alerts] hat weder heartbeat_url_file noch webhook_url_file noch [alerts.mail]
alerts-taken = hat die Nachricht angenommen (Antwort { $code })
open-no-page = es gibt keine Statusseite: Schreiben Sie [status_page] mit listen = "127.0.0.1:8977" in die Konfiguration
open-not-running = docsyncd läuft nicht, und damit auch nicht die Statusseite: Starten Sie es ({ $command })
open-not-served = docsyncd läuft, aber ohne die Statusseite: Vielleicht ist ihr Port belegt, oder die neue Konfiguration ist noch nicht gelesen. Das Protokoll und { $command } sagen, warum
open-not-encrypted = die Seite ist nur über das Netz und ohne TLS erreichbar, also ohne Namen und Schaltflächen: Schreiben Sie certificate_file und certificate_key_file in [status_page], oder listen = "127.0.0.1:8977"
open-for-another = Öffnen Sie diese Adresse innerhalb einer Stunde in einem Browser des anderen Computers; sie gilt einmal. Der Browser ist dann bekannt, solange er einmal in 90 Tagen benutzt wird:
open-for-another-tunnel = Andere Computer sehen die Seite noch nicht ganz: [status_page] braucht certificate_file und certificate_key_file, oder public_url (docs/status-page.md). Bis dahin gilt diese Adresse auf diesem Computer und durch ssh -L, einmal, innerhalb einer Stunde:
open-no-screen = Hier gibt es keinen Bildschirm.
open-done = der Browser öffnet { $page }
open-no-browser = es ließ sich kein Browser öffnen
open-address = Öffnen Sie diese Adresse innerhalb von zwei Minuten in einem Browser dieses Computers; sie gilt einmal:

## `docsyncd login`, im Terminal

sign-in-opens = Der Browser öffnet sich, um das Konto { $name } anzumelden. Wenn nicht, öffnen Sie diese Adresse selbst:
sign-in-open = Öffnen Sie diese Adresse in einem Browser, und melden Sie sich als Benutzer des Kontos { $name } an:
sign-in-returns = Sie führt zurück zu { $address }, was der Betreiber genau so eingetragen haben muss.
sign-in-paste = 
    Läuft der Browser auf einem anderen Computer, endet er auf einer Adresse, die er nicht öffnen kann: Kopieren Sie
    diese ganze Adresse, fügen Sie sie hier ein, und drücken Sie Enter.
sign-in-done = das Konto { $name } ist angemeldet
sign-in-nameless = der Dienst hat nicht gesagt, wer das ist
sign-in-no-name = ein Benutzer ohne Namen
sign-in-as = angemeldet: { $person } (Konto { $name })
sign-in-as-practice = angemeldet: { $person }, Praxis { $practice } (Konto { $name })

sign-in-no-page = api.app_url ist nicht angegeben: Dort liegt die Anmeldeseite. Fragen Sie den Betreiber danach
sign-in-port-taken = der Port { $port } von 127.0.0.1 (accounts.{ $name }.redirect_port) ist nicht benutzbar ({ $why }). Ein anderes Programm benutzt ihn, vielleicht noch ein Aufruf von docsyncd login: Beenden Sie es. Oder wählen Sie einen anderen Port, und lassen Sie den Betreiber die Adresse damit eintragen
sign-in-port-refused = der Port { $port } von 127.0.0.1 (accounts.{ $name }.redirect_port) ist nicht benutzbar ({ $why }). Wählen Sie einen anderen Port, und lassen Sie den Betreiber die Adresse damit eintragen
sign-in-nobody = niemand hat sich innerhalb von { $patience } angemeldet: Nichts wurde geändert. Führen Sie docsyncd login noch einmal aus
sign-in-interrupted = abgebrochen: Nichts wurde geändert
sign-in-pasted-incomplete = das ist nicht die Adresse: Sie muss code= und state= enthalten (oder error=). Kopieren Sie die ganze Adresse aus dem Browser, und fügen Sie sie noch einmal ein
sign-in-pasted-other = diese Adresse gehört zu einer anderen Anmeldung. Öffnen Sie die Adresse oben, und fügen Sie die ein, auf der der Browser dann endet
sign-in-strangers = zehn Antworten gehörten nicht zu dieser Anmeldung: Ein Programm oder eine Seite auf diesem Computer erfindet sie, oder ein alter Tab lädt sich neu. Weitere werden stillschweigend übergangen. Das Warten geht weiter
sign-in-stranger = eine Antwort gehörte nicht zu dieser Anmeldung (anderer state) und wurde übergangen. Das Warten geht weiter
sign-in-stranger-incomplete = eine Antwort nannte weder code noch error und wurde übergangen. Das Warten geht weiter
sign-in-another = Warnung: Das Konto { $name } war bisher als { $before } angemeldet. Briefe von { $before }, die docsyncd kennt, bleiben, wie sie sind; ab jetzt werden die von { $email } geholt. War das nicht so gemeint, führen Sie docsyncd login --account { $name } noch einmal als { $before } aus, und geben Sie { $email } ein eigenes Konto
sign-in-not-remembered = Warnung: Wer sich angemeldet hat, ließ sich nicht speichern ({ $why })
sign-in-not-all-allowed = Warnung: Nicht alles wurde erlaubt: { $scopes }. Was es braucht, wird fehlschlagen (HTTP 403); führen Sie docsyncd login --account { $name } noch einmal aus, und lassen Sie alles angekreuzt
logout-failed = das Konto { $name } ließ sich nicht abmelden
logout-nothing = das Konto { $name } war nicht angemeldet: Es ist nichts zu tun
logout-done = das Konto { $name } ist abgemeldet: Seine Anmeldedaten sind von diesem Computer gelöscht, und ein laufendes docsyncd hält es an.
    Was abgelegt ist, bleibt. docsyncd login --account { $name } meldet es wieder an.
## Die Seiten, auf denen `docsyncd login` endet.

login-done = Sie sind angemeldet
login-as = Angemeldet als
login-done-do = docsyncd kann auf diesem Computer nun Ihre Briefe ablegen.
login-close = Sie können dieses Fenster schließen.
login-foreign = Das ist nicht die Anmeldung, auf die docsyncd wartet
login-foreign-do = Sie gehört zu einem früheren Versuch, oder ein anderes Programm hat sie erfunden. Nichts wurde geändert. Verwenden Sie die Adresse, die docsyncd zuletzt gezeigt hat.
login-incomplete = Diese Adresse gehört zu keiner Anmeldung
login-incomplete-do = Nichts wurde geändert. Verwenden Sie die Adresse, die docsyncd zuletzt gezeigt hat.
login-used = Diese Anmeldung wurde schon verwendet
login-used-do = Eine Antwort gilt nur einmal. Was daraus wurde, steht in dem Fenster, in dem docsyncd login gestartet wurde.
login-denied = Der Zugriff wurde auf der Anmeldeseite abgelehnt
login-denied-do = War das nicht so gemeint, führen Sie docsyncd login noch einmal aus, und erlauben Sie den Zugriff.
login-invalid-request = Der Server nimmt die Anfrage nicht an
login-invalid-request-do = Vergleichen Sie client_id, scopes und die Rücksprungadresse mit dem, was der Betreiber eingetragen hat.
login-unauthorized-client = Der Server erlaubt dieser Anwendung nicht, jemanden anzumelden
login-unauthorized-client-do = Bitten Sie den Betreiber, es für die client_id der Konfiguration zu erlauben.
login-invalid-scope = Der Server gewährt eine der verlangten Berechtigungen nicht
login-invalid-scope-do = Vergleichen Sie die scopes des Kontos in der Konfiguration mit dem, was der Betreiber erlaubt.
login-server-fault = Der Server ist gestört
login-server-fault-do = Führen Sie docsyncd login in einigen Minuten noch einmal aus.
login-other-refusal = Der Server hat die Anmeldung abgelehnt
login-other-refusal-do = Führen Sie docsyncd login noch einmal aus; geschieht es wieder, nennen Sie dem Betreiber die Worte unten.
login-code-refused = Der Server nimmt diese Anmeldung nicht mehr an
login-code-refused-do = Sie gilt 60 Sekunden lang und nur einmal. Führen Sie docsyncd login noch einmal aus.
login-client-refused = Der Server nimmt die Zugangsdaten der Anwendung nicht an
login-client-refused-do = Prüfen Sie client_id und client_secret_file in der Konfiguration, und führen Sie docsyncd login noch einmal aus.
login-unreachable = Die Anmeldung konnte beim Server nicht abgeschlossen werden
login-unreachable-do = Prüfen Sie das Netzwerk und api.base_url, und führen Sie docsyncd login noch einmal aus.
login-no-secret = Das Geheimnis der Anwendung ist nicht lesbar
login-no-secret-do = Berichtigen Sie client_secret_file, und führen Sie docsyncd login noch einmal aus.
login-not-saved = Die Anmeldung konnte auf diesem Computer nicht gespeichert werden
login-not-saved-do = Beheben Sie, was unten steht, und führen Sie docsyncd login noch einmal aus.

## docsyncd support

support-written = { $file } ist geschrieben ({ $size } KB), für die Person, die Ihnen hilft. Inhalt, und was fehlt:
support-names-nobody = Die Datei nennt weder Patienten noch Dateien, Ordner, Computer oder Personen. Sehen Sie hinein, bevor Sie sie senden.
support-kilobytes = { $size } KB
support-lacks-configuration = fehlt: Die Konfiguration ist nicht verwendbar (docsyncd check sagt, warum)
support-lacks-not-running = fehlt: docsyncd läuft nicht
support-lacks-no-page = fehlt: docsyncd läuft ohne Statusseite
support-lacks-no-answer = fehlt: Die Statusseite antwortet nicht
support-lacks-no-ledger = fehlt: Es gibt noch keine Datenbank
support-lacks-no-right = fehlt: Dieser Benutzer darf es nicht lesen; führen Sie den Befehl als Administrator aus
support-lacks-locked = fehlt: Ein anderes Programm hält die Datenbank
support-lacks-damaged = fehlt: Die Datenbank ist beschädigt
support-lacks-foreign = fehlt: Die Datenbank ist von einer anderen Version oder einem anderen Programm
support-lacks-unreadable = fehlt: Es lässt sich nicht lesen
support-lacks-late = fehlt: Es dauerte zu lange
support-lacks-no-log = fehlt: Es gibt keine Protokolldatei (log.file), und im Systemprotokoll steht aus dieser Zeit nichts von docsyncd; schrieb es anderswohin?
support-lacks-no-lines = fehlt: In dieser Zeit wurde nichts protokolliert
support-lacks-not-known = fehlt: Einer der Briefe ist nicht bekannt
support-lacks-too-large = fehlt: zu groß

## `docsyncd backup`, `restore` und `move`

backup-written = { $file } geschrieben ({ $size }): die Datenbank, wie sie am { $time } war, und die Konfiguration
backup-letters = { $count ->
    [one] 1 Brief steht in der Datenbank, mit dem Namen des Patienten: Bewahren Sie die Datei so auf, dass niemand sonst sie lesen kann
   *[other] { $count } Briefe stehen in der Datenbank, mit Namen von Patienten: Bewahren Sie die Datei so auf, dass niemand sonst sie lesen kann
}
backup-plain = Sie ist nicht verschlüsselt, darum enthält sie keinen Schlüssel, kein Passwort und keine Anmeldung. Mit --passphrase-file enthält sie diese
backup-secrets = { $count ->
    [one] Verschlüsselt, mit 1 Schlüssel, Passwort oder Anmeldung
   *[other] Verschlüsselt, mit { $count } Schlüsseln, Passwörtern und Anmeldungen
}
backup-missing = Nicht enthalten:
restore-done = Wiederhergestellt, wie es am { $time } war: { $count ->
    [one] 1 Brief
   *[other] { $count } Briefe
} und die Konfiguration { $config }
restore-aside = Was vorher da war, ist nun { $place }
restore-missing = Nicht in der Sicherung, also hier einzurichten:
restore-unseen = { $count ->
    [one] 1 Brief, der unterwegs war, wird vielleicht ein zweites Mal abgelegt oder wartet auf eine Person (on_lost_reply)
   *[other] { $count } Briefe, die unterwegs waren, werden vielleicht ein zweites Mal abgelegt oder warten auf eine Person (on_lost_reply)
}: Niemand kann sehen, ob sie in { $names } angekommen sind. Lief nach der Sicherung nichts mehr, stellen Sie mit --nothing-since wieder her
restore-all-seen = Bevor docsyncd einen Brief sendet, der unterwegs war, sieht es nach, ob er schon angekommen ist
restore-nothing-since = Nach der Sicherung wurde nichts abgelegt, wie Sie sagen: Briefe, die unterwegs waren, gehen weiter wie zuvor
restore-start = Beim Start liest docsyncd zuerst die ganze Liste jedes Kontos. Den Dienst starten: { $command }
move-done = Die Datenbank ist umgezogen: docsyncd arbeitet hier nicht mehr mit ihr. Auf dem anderen Computer: { $there }. Um es zurückzunehmen: { $back }
move-undone = Der Umzug vom { $time } ist zurückgenommen. Ein anderer Computer hat seither vielleicht gearbeitet: Dort darf docsyncd nicht mehr laufen. docsyncd sieht nach, wo jeder Brief ist, bevor es einen sendet
backup-there = { $file } gibt es schon, und es wurde nichts geschrieben: Wählen Sie einen anderen Namen, oder --force ersetzt die Datei
backup-no-file = { $file } ist keine gewöhnliche Datei und bleibt, wie es ist: Wählen Sie einen anderen Namen
backup-own = { $file } ist eine Datei, mit der docsyncd arbeitet, und es wurde nichts geschrieben: Wählen Sie einen anderen Namen
backup-not-written = { $file } kann nicht geschrieben werden, und nichts davon ist übrig
backup-left-out = Warnung: { $what } ist nicht lesbar und darum nicht in der Sicherung ({ $why })
restore-runs = docsyncd läuft und arbeitet mit der Datenbank { $file }, und es wurde nichts geändert. Halten Sie es zuerst an: { $command }
restore-letters = die Datenbank { $file } enthält Briefe, und es wurde nichts geändert: --force legt sie beiseite und sagt, wohin
restore-there = { $file } gibt es schon, und es wurde nichts geändert: --force legt die Datei beiseite und sagt, wohin
restore-configuration = die Konfiguration in der Sicherung ist hier nicht verwendbar, und es wurde nichts geändert: { $what }
restore-newer = { $file } wurde von einem neueren docsyncd geschrieben ({ $what }), und es wurde nichts geändert: Installieren Sie zuerst diese Version
restore-unwritable = { $file } kann nicht geschrieben werden, und es wurde nichts geändert
restore-unpacked = { $file } kann nicht ausgepackt werden, und es wurde nichts geändert: { $what }
restore-unreadable = { $file } kann nicht gelesen werden, und es wurde nichts geändert: { $what }
restore-damaged = { $file } ist beschädigt oder nicht vollständig ({ $what }), und es wurde nichts geändert
restore-foreign = { $file } ist keine Sicherung von docsyncd, und es wurde nichts geändert
restore-encrypted = { $file } ist verschlüsselt, und es wurde nichts geändert: Nennen Sie die Datei mit der Passphrase (--passphrase-file)
restore-passphrase = { $file } lässt sich mit dieser Passphrase nicht entschlüsseln, und es wurde nichts geändert
restore-no-age = { $file } ist verschlüsselt, und dieses docsyncd wurde ohne Verschlüsselung gebaut (ohne age). Es wurde nichts geändert
restore-place = { $file } kann nicht an seinen Platz gebracht werden: Führen Sie denselben Befehl noch einmal mit --force aus
restore-later = die Datenbank kommt beim nächsten Start an ihren Platz
move-runs = docsyncd läuft, und es wurde nichts geändert: --stop hält zuerst den Dienst an
move-not-stopped = docsyncd ließ sich nicht anhalten, und es wurde nichts geändert
move-moved = die Datenbank ist schon umgezogen, am { $time }. Um es zurückzunehmen: { $back }
move-not-moved = die Datenbank ist nicht umgezogen, also gibt es nichts zurückzunehmen
support-not-written = { $file } kann nicht geschrieben werden (nichts davon ist übrig; docsyncd support --print zeigt dasselbe und schreibt keine Datei)
