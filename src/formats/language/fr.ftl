# Tout ce que docsyncd dit aux gens du cabinet, en français. en.ftl a les mêmes clés avec les mêmes variables : un test y
# veille. Devant : ; ? ! et entre guillemets et mot, une espace insécable : aucune ligne ne commence par un signe. « Courriers » désigne tous les documents.

## Les heures et les nombres

month = { $month ->
    [1] janvier
    [2] février
    [3] mars
    [4] avril
    [5] mai
    [6] juin
    [7] juillet
    [8] août
    [9] septembre
    [10] octobre
    [11] novembre
   *[12] décembre
}
at-today = à { $time }
at-day = le { $day } { $month } à { $time }
at-year = le { $day } { $month } { $year } à { $time }
since-today = depuis { $time }
since-day = depuis le { $day } { $month } à { $time }
since-year = depuis le { $day } { $month } { $year } à { $time }
date = { $day } { $month } { $year }
letters = { $count ->
    [0] aucun courrier
    [one] { $count } courrier
   *[other] { $count } courriers
}
and-more = { $names } et { $more } de plus

## La première phrase

well-none = Tout va bien : pas encore de courrier aujourd'hui.
well-some = Tout va bien : { $count ->
    [one] { $count } courrier aujourd'hui, { $last }.
   *[other] { $count } courriers aujourd'hui, le dernier { $last }.
}
well-last = Tout va bien : pas encore de courrier aujourd'hui, le dernier est arrivé { $last }.
well-open = { $count ->
    [one] { $count } autre est en route.
   *[other] { $count } autres sont en route.
}
not-running = docsyncd est arrêté : aucun courrier n'est classé. Démarrez le service.
not-running-last = docsyncd est arrêté : aucun courrier n'est classé. Le dernier est arrivé { $last }. Démarrez le service.
moved = Le registre a déménagé vers un autre ordinateur { $at } : docsyncd ne classe plus de courriers ici.
others = { $count ->
    [one] Il y a { $count } autre problème.
   *[other] Il y a { $count } autres problèmes.
}
next-poll = docsyncd relèvera les nouveaux courriers { $at }.
next-poll-soon = docsyncd relèvera les nouveaux courriers { $seconds ->
    [0] tout de suite.
    [one] dans { $seconds } seconde.
   *[other] dans { $seconds } secondes.
}
sum = Instances : { $instances }. Courriers aujourd'hui : { $today }. En attente : { $waiting }. En échec : { $failed }.
light-well = Tout va bien
light-waiting = Quelque chose attend
light-shut = Aucun courrier ne peut être classé
light-needs-person = Quelqu'un doit intervenir
light-not-running = À l'arrêt

## Ce qui ne va pas.

waiting = { $count ->
    [one] { $count } courrier attend { $since } : { $why }.
   *[other] { $count } courriers attendent { $since } : { $why }.
}
waiting-none = { $since } : { $why }.
subject-waiting = { $count ->
    [one] { $count } courrier attend : { $why }
   *[other] { $count } courriers attendent : { $why }
}

why-ledger = docsyncd ne peut pas enregistrer ses données
do-ledger = Appelez votre informaticien : docsyncd ne peut rien enregistrer sur le disque qui contient { $place }. Le disque est peut-être plein ou en panne, ou un autre programme (sauvegarde, antivirus) garde ouverts les fichiers de docsyncd.
it-ledger = Libérez de la place sur le disque qui contient { $place }, vérifiez que ce disque fonctionne, et fermez les programmes qui gardent le registre ouvert (sauvegarde, antivirus).
over-ledger = docsyncd peut de nouveau enregistrer ses données.

why-disk = docsyncd ne peut pas enregistrer les courriers téléchargés
do-disk = Appelez votre informaticien : le disque qui contient { $place } est plein ou en panne. Une fois la cause corrigée, cliquez sur « { page-mended } ».
it-disk = Libérez de la place sur le disque qui contient { $place } et vérifiez que ce disque fonctionne.
over-disk = docsyncd peut de nouveau enregistrer les courriers téléchargés.

why-sign-in = { $names ->
    [one] le compte { $name } doit se reconnecter
   *[other] { $names } comptes doivent se reconnecter ({ $name })
}
do-sign-in = { $names ->
    [one] Appelez votre informaticien : quelqu'un doit reconnecter le compte { $name }.
   *[other] Appelez votre informaticien : quelqu'un doit reconnecter chacun de ces comptes ({ $name }).
}
it-sign-in = { $names ->
    [one] Lancez : docsyncd login --account { $name }
   *[other] Lancez pour chacun : docsyncd login --account NOM
}
over-sign-in = { $names ->
    [one] Le compte { $name } est de nouveau connecté.
   *[other] { $names } comptes sont de nouveau connectés ({ $name }).
}

why-api-key = { $names ->
    [one] la clé du compte { $name } est refusée ou illisible
   *[other] les clés de { $names } comptes sont refusées ou illisibles ({ $name })
}
do-api-key = { $names ->
    [one] Appelez votre informaticien : il faut une nouvelle clé pour le compte { $name }.
   *[other] Appelez votre informaticien : il faut de nouvelles clés pour ces comptes ({ $name }).
}
it-api-key = { $places ->
    [0] Mettez une clé valable dans le fichier indiqué par api_key_file
   *[other] Mettez une clé valable dans { $place }
}, puis lancez : docsyncd check
over-api-key = { $names ->
    [one] La clé du compte { $name } fonctionne de nouveau.
   *[other] Les clés de { $names } comptes fonctionnent de nouveau ({ $name }).
}

why-not-allowed = { $names ->
    [one] le compte { $name } n'a pas le droit de lire les courriers ou de les confirmer
   *[other] { $names } comptes n'ont pas le droit de lire les courriers ou de les confirmer ({ $name })
}
do-not-allowed = Appelez votre informaticien : l'exploitant du service doit accorder un droit qui manque.
it-not-allowed = Demandez à l'exploitant du service le droit qui manque, puis lancez : docsyncd check
over-not-allowed = { $names ->
    [one] Le compte { $name } peut continuer.
   *[other] { $names } comptes peuvent continuer ({ $name }).
}

why-host-key = { $names ->
    [one] le serveur de la destination { $name } s'identifie autrement qu'avant
   *[other] les serveurs de { $names } destinations s'identifient autrement qu'avant ({ $name })
}
do-host-key = Appelez votre informaticien : ce n'est peut-être plus le même serveur. Aucun courrier n'y est envoyé tant que cela n'est pas vérifié.
it-host-key = Demandez à la personne qui gère ce serveur si sa clé a été changée. Sinon, quelqu'un intercepte peut-être la connexion : n'y classez rien. Si oui, écrivez la nouvelle empreinte comme `host_key`.
over-host-key = { $names ->
    [one] Le serveur de la destination { $name } s'identifie de nouveau comme avant.
   *[other] Les serveurs de { $names } destinations s'identifient de nouveau comme avant ({ $name }).
}

why-destination-sign-in = { $names ->
    [one] la destination { $name } refuse l'utilisateur ou le mot de passe, ou leur fichier est illisible
   *[other] { $names } destinations refusent l'utilisateur ou le mot de passe, ou leur fichier est illisible ({ $name })
}
do-destination-sign-in = Appelez votre informaticien : le mot de passe y a peut-être été changé. Une fois la cause corrigée, cliquez sur « { page-mended } ».
it-destination-sign-in = Corrigez l'utilisateur et le mot de passe de la destination, ou rendez leur fichier lisible, puis lancez : docsyncd check
over-destination-sign-in = { $names ->
    [one] La destination { $name } accepte de nouveau l'utilisateur et le mot de passe.
   *[other] { $names } destinations acceptent de nouveau l'utilisateur et le mot de passe ({ $name }).
}

why-destination-full = { $names ->
    [one] la destination { $name } est pleine
   *[other] { $names } destinations sont pleines ({ $name })
}
do-destination-full = { $places ->
    [0] Libérez-y de la place
   *[other] Libérez de la place sur le disque qui contient { $place }
}, puis cliquez sur « { page-mended } ». Rien n'est perdu : ce qui attend sera alors classé.
it-destination-full = { $places ->
    [0] Libérez-y de la place.
   *[other] Libérez de la place sur le disque qui contient { $place }.
} Rien n'est perdu : ce qui attend sera alors classé.
over-destination-full = { $names ->
    [one] La destination { $name } a de nouveau de la place.
   *[other] { $names } destinations ont de nouveau de la place ({ $name }).
}

problem-failed = { $count ->
    [one] { $count } courrier n'a pas pu être classé ({ $since }).
   *[other] { $count } courriers n'ont pas pu être classés ({ $since }).
}
do-failed = La page dit pourquoi, sous « { page-failed-title } ». Une fois la cause corrigée, cliquez sur « { page-mended } ».
it-failed = Voyez pourquoi : docsyncd list --state failed. Une fois la cause corrigée, réessayez : docsyncd retry --failed
subject-failed = { $count ->
    [one] { $count } courrier n'a pas pu être classé
   *[other] { $count } courriers n'ont pas pu être classés
}
over-failed = Il ne reste aucun courrier en échec.

problem-unreported = { $count ->
    [one] { $count } courrier est classé, mais le service refuse la confirmation ({ $since }).
   *[other] { $count } courriers sont classés, mais le service refuse la confirmation ({ $since }).
}
do-unreported = { $count ->
    [one] Le courrier est à sa place : rien ne manque.
   *[other] Les courriers sont à leur place : rien ne manque.
} Pour prévenir de nouveau le service, cliquez sur « { page-mended } ».
it-unreported = Voyez pourquoi : docsyncd list --state unreported. Puis informez de nouveau le service : docsyncd retry --failed
subject-unreported = { $count ->
    [one] { $count } courrier est classé, mais le service refuse la confirmation
   *[other] { $count } courriers sont classés, mais le service refuse la confirmation
}
over-unreported = Le service connaît tous les courriers classés.

problem-unconfirmed = { $count ->
    [one] { $count } courrier est peut-être arrivé, sans que l'on puisse le savoir ({ $since }).
   *[other] { $count } courriers sont peut-être arrivés, sans que l'on puisse le savoir ({ $since }).
}
do-unconfirmed = { $count ->
    [one] Regardez dans le logiciel du cabinet s'il y est. Ouvrez ensuite le courrier sur la page
   *[other] Regardez dans le logiciel du cabinet s'ils y sont. Ouvrez ensuite chaque courrier sur la page
} et cliquez sur « { letter-arrived } » ou « { letter-send-again } ».
it-unconfirmed = Vérifiez sur place : docsyncd list --state fetched nomme ce qui est à vérifier. Ce qui n'y est pas se renvoie : docsyncd retry UUID (ce qui y est : docsyncd retry --arrived UUID)
subject-unconfirmed = { $count ->
    [one] { $count } courrier attend : est-il arrivé ?
   *[other] { $count } courriers attendent : sont-ils arrivés ?
}
over-unconfirmed = Tous les courriers douteux sont vérifiés.

problem-patient-unknown = { $count ->
    [one] Pour { $count } courrier, on ne sait pas de quel patient du cabinet il s'agit ({ $since }).
   *[other] Pour { $count } courriers, on ne sait pas de quels patients du cabinet il s'agit ({ $since }).
}
do-patient-unknown = Comparez les fiches sur la page, sous « { page-patients-title } », et cliquez sur « { page-assign } ». Un patient ajouté à la liste est trouvé automatiquement.
it-patient-unknown = docsyncd list --state fetched les nomme ; docsyncd assign UUID montre de qui il peut s'agir, et docsyncd assign UUID NUMÉRO tranche. Un courrier dont le patient arrive dans la liste est classé tout seul.
subject-patient-unknown = { $count ->
    [one] { $count } courrier attend : quel patient ?
   *[other] { $count } courriers attendent : quel patient ?
}
over-patient-unknown = Tous les courriers sont attribués à un patient.

why-patients-file = { $count ->
    [0] la liste des patients du cabinet est inutilisable ({ $reason })
   *[other] la liste des patients du cabinet ne contient le patient d'aucun des { $count } courriers qui attendent
}
do-patients-file = { $count ->
    [0] Faites exporter de nouveau la liste depuis le logiciel du cabinet. { $goes ->
        [0] D'ici là, les courriers qui ont besoin d'un numéro de patient attendent ; les autres sont classés.
       *[other] D'ici là, docsyncd utilise la liste précédente : seuls les courriers de patients nouveaux depuis attendent.
    }
   *[other] Comparez les noms et les dates de naissance sur la page : c'est peut-être la liste d'un autre cabinet, ou les dates sont décalées d'un jour. Faites-la exporter de nouveau ; ce qui attend sera alors classé.
}
it-patients-file = { $count ->
    [0] docsyncd check dit ce qui ne va pas ({ $reason }). { $goes ->
        [0] Il n'y a pas de liste précédente : les courriers qui ont besoin d'un numéro de patient attendent.
       *[other] Jusqu'à la correction, ou jusqu'au redémarrage de docsyncd, la liste précédente sert encore.
    }
   *[other] Comparez les noms et dates de naissance de la liste avec docsyncd assign UUID : c'est peut-être la liste d'un autre cabinet, ou les dates sont décalées d'un jour. Exportez-la de nouveau ; ce qui attend sera alors classé.
}
over-patients-file = La liste des patients du cabinet est de nouveau utilisable.
list-wrong-missing = son fichier n'est pas là
list-wrong-unreadable = docsyncd n'a pas le droit de lire son fichier
list-wrong-away = son fichier ne répond pas
list-wrong-written = elle n'est peut-être pas entière : l'export n'est pas terminé
list-wrong-short = elle est vide, ou bien plus courte qu'avant
list-wrong-strange = les numéros des courriers déjà classés n'y sont pas
list-wrong-workbook = c'est un classeur Excel, et non un CSV
list-wrong-columns = sa première ligne ne nomme pas les colonnes nécessaires
list-wrong-letters = ligne { $row } : des lettres sont illisibles
list-wrong-row = ligne { $row } : elle ne correspond pas aux colonnes
list-wrong-number = ligne { $row } : le numéro du patient est abîmé
list-wrong-date = ligne { $row } : la date de naissance est illisible
list-wrong-two-ways = ligne { $row } : la date se lit de deux façons, jour ou mois d'abord
list-wrong-content = elle est illisible

problem-not-taken = { $count ->
    [one] { $count } courrier est déposé, et le logiciel qui lit { $name } ne l'a pas pris ({ $since }).
   *[other] { $count } courriers sont déposés, et le logiciel qui lit { $name } ne les a pas pris ({ $since }).
}
do-not-taken = Vérifiez que le logiciel du cabinet est ouvert et qu'il importe. { $count ->
    [one] Si le courrier est déjà dans le dossier du patient
   *[other] Si un courrier est déjà dans le dossier du patient
}, ouvrez-le sur la page et cliquez sur « { letter-arrived } ».
it-not-taken = Vérifiez que le logiciel du cabinet fonctionne et importe. docsyncd list --state fetched les nomme ; si l'un est dans le dossier du patient, dites-le : docsyncd retry --arrived UUID
subject-not-taken = { $count ->
    [one] { $count } courrier est déposé, mais le logiciel qui lit { $name } ne l'a pas pris
   *[other] { $count } courriers sont déposés, mais le logiciel qui lit { $name } ne les a pas pris
}
over-not-taken = Le logiciel a pris tous les courriers de { $name }.

problem-not-replaced = { $count ->
    [one] { $count } courrier est en double dans le logiciel du cabinet ({ $since }) : une ancienne version à côté de la nouvelle, ou une copie dans le dossier d'un autre patient.
   *[other] { $count } courriers sont en double dans le logiciel du cabinet ({ $since }) : une ancienne version à côté de la nouvelle, ou une copie dans le dossier d'un autre patient.
}
do-not-replaced = Ouvrez le courrier sur la page, sous « { page-beside-title } » : elle indique où se trouve l'ancienne copie. Supprimez-la dans le logiciel du cabinet, puis cliquez sur « { letter-removed } » ou « { letter-removed-anothers } ».
it-not-replaced = docsyncd retry nomme les courriers, docsyncd show UUID indique où se trouve l'ancienne copie. Supprimez-la, puis confirmez : docsyncd retry --removed UUID.
subject-not-replaced = { $count ->
    [one] { $count } courrier est en double : supprimez l'ancienne copie
   *[other] { $count } courriers sont en double : supprimez les anciennes copies
}
over-not-replaced = Aucune ancienne copie d'un courrier ne reste à côté d'une nouvelle.

problem-not-agreeing = { $count ->
    [one] Pour { $count } courrier, le service, docsyncd et sa destination ne disent pas la même chose ({ $since }).
   *[other] Le service, docsyncd et les destinations ne disent pas la même chose des courriers : { $count } différences ({ $since }).
}
do-not-agreeing = Appelez votre informaticien : chaque différence est à examiner. docsyncd ne reclasse aucun courrier de lui-même.
it-not-agreeing = docsyncd reconcile dit quels courriers et ce qui diffère ; docsyncd reconcile --repair fait ce qui est sans risque, et demande avant de reclasser un courrier.
subject-not-agreeing = { $count ->
    [one] { $count } différence entre le service et le cabinet
   *[other] { $count } différences entre le service et le cabinet
}
over-not-agreeing = Le service, docsyncd et les destinations sont d'accord sur tous les courriers.

why-silence = { $names ->
    [one] docsyncd n'a pas pu relever les nouveaux courriers du compte { $name }
   *[other] docsyncd n'a pas pu relever les nouveaux courriers de { $names } comptes ({ $name })
}
do-silence = Vérifiez la connexion internet de cet ordinateur. Si elle fonctionne, appelez votre informaticien.
it-silence = Vérifiez la connexion internet de cet ordinateur, puis lancez : docsyncd check
over-silence = { $names ->
    [one] docsyncd relève de nouveau les courriers du compte { $name }.
   *[other] docsyncd relève de nouveau les courriers de { $names } comptes ({ $name }).
}

why-slept = cet ordinateur était en veille ou éteint, aucun courrier n'a donc été classé
do-slept = Laissez l'ordinateur allumé, même la nuit : désactivez sa mise en veille.
over-slept = docsyncd relève de nouveau les courriers.

why-destination-program = { $names ->
    [one] le programme de la destination { $name } manque ou ne peut pas être lancé
   *[other] les programmes de { $names } destinations manquent ou ne peuvent pas être lancés ({ $name })
}
do-destination-program = Appelez votre informaticien : le programme qui transmet les courriers manque ou ne démarre pas.
it-destination-program = Lancez : docsyncd check. La commande nomme le programme et dit ce qui ne va pas. Installez-le à cet endroit, ou corrigez `program`.
over-destination-program = { $names ->
    [one] Le programme de la destination { $name } peut de nouveau être lancé.
   *[other] Les programmes de { $names } destinations peuvent de nouveau être lancés ({ $name }).
}

why-destination = { $names ->
    [one] la destination { $name } est inaccessible
   *[other] { $names } destinations sont inaccessibles ({ $name })
}{ $count ->
    [0] , aucun courrier ne peut y être classé
   *[other] { "" }
}
do-destination = Vérifiez que l'ordinateur qui contient le dossier est allumé et que le dossier s'ouvre. Cliquez ensuite sur « { page-mended } ».
it-destination = Vérifiez que l'ordinateur qui contient le dossier est allumé et que le dossier est là, puis lancez : docsyncd check
over-destination = { $names ->
    [one] La destination { $name } est de nouveau accessible.
   *[other] { $names } destinations sont de nouveau accessibles ({ $name }).
}

why-destination-refuses = { $names ->
    [one] la destination { $name } ne prend aucun courrier
   *[other] { $names } destinations ne prennent aucun courrier ({ $name })
}
do-destination-refuses = La page dit pourquoi, sous « { page-places } ». Si vous ne pouvez pas corriger la cause, appelez votre informaticien. Cliquez ensuite sur « { page-mended } ».
it-destination-refuses = { see-status } Lancez ensuite : docsyncd check
over-destination-refuses = { $names ->
    [one] La destination { $name } prend de nouveau les courriers.
   *[other] { $names } destinations prennent de nouveau les courriers ({ $name }).
}

why-service = { $names ->
    [one] le service est inaccessible pour le compte { $name }, ou ne fonctionne pas
   *[other] le service est inaccessible pour { $names } comptes, ou ne fonctionne pas ({ $name })
}
do-service = Vérifiez la connexion internet de cet ordinateur. Si elle fonctionne, le service est en panne : docsyncd réessaie sans cesse.
over-service = { $names ->
    [one] Le service fonctionne de nouveau pour le compte { $name }.
   *[other] Le service fonctionne de nouveau pour { $names } comptes ({ $name }).
}

why-service-busy = { $names ->
    [one] le service demande au compte { $name } d'attendre
   *[other] le service demande à { $names } comptes d'attendre ({ $name })
}
do-service-busy = Attendez : docsyncd reprend tout seul dès qu'il le peut. Si cela dure des heures, demandez pourquoi à l'exploitant du service.
over-service-busy = { $names ->
    [one] Le service répond de nouveau au compte { $name }.
   *[other] Le service répond de nouveau à { $names } comptes ({ $name }).
}

why-downloads = { $names ->
    [one] le service ne donne pas de PDF corrects pour le compte { $name }
   *[other] le service ne donne pas de PDF corrects pour { $names } comptes ({ $name })
}
do-downloads = Si cela dure plus d'une heure, appelez votre informaticien : quelque chose gêne peut-être entre cet ordinateur et le service.
it-downloads = { see-status } Un proxy ou un pare-feu gêne peut-être ; sinon, demandez à l'exploitant du service.
over-downloads = { $names ->
    [one] Le service donne de nouveau les PDF pour le compte { $name }.
   *[other] Le service donne de nouveau les PDF pour { $names } comptes ({ $name }).
}

why-reports = { $names ->
    [one] le service refuse les confirmations du compte { $name }
   *[other] le service refuse les confirmations de { $names } comptes ({ $name })
}
do-reports = Les courriers sont à leur place : rien ne manque. Si cela dure plus d'un jour, appelez votre informaticien.
it-reports = Les courriers sont classés. { see-status } Si cela dure, demandez à l'exploitant du service.
over-reports = { $names ->
    [one] Le service accepte de nouveau les confirmations du compte { $name }.
   *[other] Le service accepte de nouveau les confirmations de { $names } comptes ({ $name }).
}

why-stalled-delivery = { $names ->
    [one] la destination { $name } prend d'autres courriers
   *[other] { $names } destinations prennent d'autres courriers ({ $name })
}, mais pas encore { $count ->
    [one] celui-ci
   *[other] ceux-ci
}
do-stalled-delivery = docsyncd réessaie de lui-même. La page dit pourquoi, sous « { page-waiting-title } ».
it-stalled-delivery = Voyez pourquoi : docsyncd list. docsyncd réessaie sans cesse.
over-stalled-delivery = { $names ->
    [one] Aucun courrier n'attend plus la destination { $name }.
   *[other] Aucun courrier n'attend plus { $names } destinations ({ $name }).
}

why-stalled = { $count ->
    [one] son PDF n'est pas encore disponible
   *[other] leur PDF n'est pas encore disponible
}, ou le service refuse la confirmation ({ $names ->
    [one] compte { $name }
   *[other] { $names } comptes : { $name }
})
do-stalled = docsyncd réessaie de lui-même. La page dit pourquoi, sous « { page-waiting-title } ».
it-stalled = Voyez pourquoi : docsyncd list. docsyncd réessaie sans cesse.
over-stalled = { $names ->
    [one] Aucun courrier du compte { $name } n'attend plus.
   *[other] Aucun courrier de { $names } comptes n'attend plus ({ $name }).
}

problem-not-configured = { $count ->
    [one] { $count } courrier attend un compte qui n'est plus configuré ({ $name }).
   *[other] { $count } courriers attendent un compte qui n'est plus configuré ({ $name }).
}
do-not-configured = Appelez votre informaticien : il faut remettre ce compte, ou connecter une personne qui voit ces courriers.
it-not-configured = Remettez le compte dans la configuration, ou connectez-vous comme une personne qui voit ces courriers.
subject-not-configured = { $count ->
    [one] { $count } courrier attend un compte qui n'est plus configuré ({ $name })
   *[other] { $count } courriers attendent un compte qui n'est plus configuré ({ $name })
}
over-not-configured = Aucun courrier n'attend plus un compte qui n'est plus configuré ({ $name }).

why-configuration = il y a une erreur dans les réglages ({ $name })
do-configuration = Appelez votre informaticien : il y a une erreur dans les réglages. D'ici là, les courriers sont classés selon les réglages précédents.
it-configuration = Corrigez-la : docsyncd check dit ce qui ne va pas. D'ici là, un docsyncd en marche classe les courriers selon la configuration précédente.
subject-configuration = Il y a une erreur dans les réglages
mistake-line = ligne { $number }
mistake-column = colonne { $number }
mistake-other = l'informaticien voit laquelle
mistake-no-field = { $place } : le champ { $name } n'existe pas
mistake-no-key = { $place } : le réglage { $name } n'existe pas
mistake-meant = { $what }, peut-être { $meant }
mistake-exact = En anglais : { $what }.
over-configuration = Les réglages sont de nouveau corrects et en vigueur.

why-clock = l'horloge de cet ordinateur et celle du service diffèrent de plus de cinq minutes
do-clock = Mettez l'horloge de cet ordinateur à l'heure, et faites-la régler par un serveur de temps. D'ici là, les connexions et les heures notées peuvent être fausses.
over-clock = L'horloge de cet ordinateur est de nouveau à l'heure.

why-certificate = les navigateurs n'acceptent plus le certificat de la page d'état, ou bientôt plus
do-certificate = Appelez votre informaticien : le certificat de cette page est à renouveler. Les courriers sont classés malgré tout.
it-certificate = docsyncd check dit ce qui ne va pas avec certificate_file : renouvelez-le ou corrigez-le. docsyncd le relit dans la minute.
subject-certificate = Le certificat de la page d'état est à renouveler
over-certificate = Le certificat de la page d'état est de nouveau bon.

problem-quiet = { $count ->
    [0] Aucun courrier { $since }.
   *[other] Aucun courrier { $since } ; d'habitude { $count } par jour.
}
do-quiet = Demandez autour de vous si des courriers ont été rédigés depuis. Si oui, appelez votre informaticien : le compte n'est peut-être pas le bon, ou le service ne lui en montre aucun. Si le cabinet était fermé, il n'y a rien à faire.
it-quiet = Voyez ce que le compte peut lire : docsyncd check. Les jours de fermeture vont dans [practice] closed ; alerts.quiet_after = "off" met fin à ces alertes.
subject-quiet = { $count ->
    [0] Plus aucun courrier n'arrive
   *[other] Plus aucun courrier n'arrive, d'habitude { $count } par jour
}
over-quiet = Des courriers arrivent de nouveau.

## `docsyncd status --health`, pour la supervision. Le texte est la fin d'une ligne, sans point.

health-more = et { $count } de plus
health-silent = les fichiers de docsyncd ne répondent pas en une seconde : le disque ou le partage fonctionne-t-il ?
health-locked = un autre programme verrouille le registre (sauvegarde, antivirus, visionneuse ?)
health-damaged = le registre ne peut pas être lu : il est endommagé
health-foreign = le registre ne peut pas être lu : il est d'une autre version ou d'un autre programme
health-no-right = le registre ne peut pas être lu : cet utilisateur n'en a pas le droit, ou son disque est absent
health-unreadable = le registre ne peut pas être lu : son disque signale des erreurs
health-not-configured = pas configuré : { $what }
health-no-right-configuration = la configuration ne peut pas être lue : cet utilisateur n'en a pas le droit
health-no-configuration = il n'y a pas de configuration
health-no-key = aucun compte n'a encore sa clé ni sa connexion
health-configuration = la configuration est inutilisable (docsyncd check dit pourquoi)
health-defect = docsyncd a rencontré une erreur interne : merci de le signaler

## Les alertes

alarm-subject-reminder = Toujours : { $subject }
alarm-subject-over = Réglé : { $over }
alarm-subject-all-well = Tout est rentré dans l'ordre : { $over }
alarm-subject-test = docsyncd : un essai
alarm-of-practice = { $subject } ({ $practice })
alarm-reminder = Toujours d'actualité : { $problem }
alarm-over = { $over } Cela avait commencé { $began }.
alarm-all-well = Tout va bien de nouveau.
alarm-left = Reste à régler : { $what }
alarm-do = Que faire : { $advice }
alarm-page-at = La page : { $address }
alarm-page-menu = La page : sur l'ordinateur { $computer }, dans le menu Démarrer : docsyncd
alarm-page-command = La page : sur l'ordinateur { $computer }, avec la commande : docsyncd open
alarm-page-off = docsyncd n'a pas de page ici : les commandes ci-dessous font la même chose.
see-status = Voyez pourquoi : docsyncd status.
alarm-it = Pour l'informaticien, sur { $computer } : { $commands }
alarm-it-file = { $it } (À ajouter à chaque commande : --config { $file })
alarm-test = Ceci est un essai. Vous recevrez ici les alertes de docsyncd. Il n'y a rien à faire.

## Le tableau de `docsyncd status`, pour qui s'occupe de l'installation. Ce qui n'a pas de variable est une étiquette.

table-no-ledger = à l'arrêt ; rien n'a encore été synchronisé : il n'y a pas de registre dans { $path }
table-running = en marche
table-running-as = version { $version }, processus { $process }, depuis { $since }
table-not-running = À L'ARRÊT
table-last-success = dernier succès
table-reported = classés
table-waiting = en attente
table-waiting-for = { $waiting } ({ $fetch } à télécharger, { $deliver } à classer, { $report } à signaler)
table-failed = en échec
table-uncertain = INCERTAINS
table-uncertain-how = { $count } peut-être arrivés : vérifiez sur place ({ $list } les nomme) ; { $retry } en renvoie un
table-person = À DÉCIDER
table-person-how = { $count } : on ne sait pas de quel patient il s'agit ({ $command })
table-to-confirm = à confirmer
table-to-confirm-how = { $count } déposés, pas encore pris par le logiciel du cabinet ({ $command })
table-withdrawn = retirés
table-account = compte
table-polled = { $name } : dernière interrogation { $at }
table-poll-failed = DERNIÈRE INTERROGATION EN ÉCHEC : { $why }
table-not-configured = PAS CONFIGURÉ : { $count ->
    [one] { $count } courrier l'attend
   *[other] { $count } courriers l'attendent
}. Le compte dont la liste les montre les reprend à sa prochaine interrogation ; si aucun ne le fait, remettez [accounts.{ $name }]
table-sign-in = connexion
table-sign-in-problem = CONNEXION
table-sign-in-why = { $name } : { $why }
table-signed-in-as = { $name } : connecté en tant que { $user }
table-signed-in = { $name } : connecté
table-by-key = { $name } : par clé d'API
table-paused = EN PAUSE
table-paused-why = { $scope } depuis { $since }, nouvel essai { $next } : { $why }
table-paused-since = { $scope } depuis { $since }, nouvel essai { $next }
table-scope-account = compte { $name }
table-scope-fetch = téléchargements du compte { $name }
table-scope-report = confirmations du compte { $name }
table-scope-destination = destination { $name }
table-ledger = registre

## La page d'état

page-open-well = Tout va bien
page-open-waiting = Des courriers attendent ; cela peut s'arranger tout seul
page-open-needs-person = Quelqu'un doit intervenir
page-open-not-running = docsyncd est arrêté
page-as-of = Mis à jour à
page-refresh = Actualiser
page-silent-title = docsyncd ne répond pas.
page-silent = Ce qui est affiché date de l'heure indiquée et n'est peut-être plus vrai. Dès que docsyncd répond, la page se met à jour d'elle-même ; si cela dure, appelez votre informaticien : le service est à démarrer.
page-language = Langue
language = Français
page-today = classés aujourd'hui
page-today-taken = classés et pris aujourd'hui
page-waiting = en attente
page-tile-not-taken = déposés, pas encore pris
page-failed = en échec
page-locked = Les noms et les boutons sont verrouillés
page-locked-how = Pour voir les courriers et ce qu'il faut faire, lancez « docsyncd open » sur cet ordinateur en tant qu'administrateur. Le navigateur garde ensuite la clé tant que la page est ouverte au moins une fois par mois.
page-locked-elsewhere = Pour voir les courriers ici, ce navigateur a besoin d'un lien. Il vient de « { page-another } » dans un navigateur qui les voit, ou de « docsyncd open --for-another », qu'un administrateur lance sur l'ordinateur où tourne docsyncd.
page-locked-not-encrypted = Sur cet ordinateur, la page ne montre ni noms ni boutons, car la connexion n'est pas chiffrée. La personne qui s'occupe des ordinateurs peut y remédier, avec un certificat pour la page.
page-accounts-work = Comptes qui fonctionnent : { $works } sur { $all }.
page-destinations-work = Destinations qui fonctionnent : { $works } sur { $all }.
page-problems = Ce qui ne va pas, et que faire
page-failed-title = N'ont pas pu être classés
page-retry = Réessayer
page-retry-all = Tout réessayer
page-mended = C'est réparé, réessayer
page-patients-title = De quel patient s'agit-il ?
page-patients-how = La première ligne montre le patient selon le service, les autres sont les patients de la liste du cabinet dont il peut s'agir. Ce qui diffère est marqué.
page-patients-no-list = La liste des patients du cabinet ne peut pas encore être lue.
page-patients-others = et { $count ->
    [one] 1 autre courrier
   *[other] { $count } autres courriers
} du même patient
page-patients-changed = Quelqu'un l'avait déjà indiqué, et un nom ou une date de naissance a changé depuis.
page-patients-nobody = Personne dans la liste ne porte un nom semblable. S'il doit encore être ajouté à la liste, attendez ; sinon saisissez son numéro.
page-patients-type = Numéro du patient
page-patients-look = Comparer
page-patients-alike = Plusieurs ont le même nom et la même date de naissance : la liste seule ne permet pas de les distinguer. Comparez ce qu'elle dit d'autre.
page-patients-no-number = Ce numéro ne peut pas être attribué.
page-patients-shared = La liste a deux personnes sous ce numéro.
page-patients-unnamed = Le service ne dit pas de quel patient parle ce courrier.
page-patients-differs = diffère
page-patients-where = Où
page-patients-cloud = Service en ligne
page-patients-list = Liste du cabinet
page-patients-number = Numéro
page-patients-more = Il y en a d'autres : réglez d'abord ceux-ci.
page-last-name = Nom
page-first-name = Prénom
page-born = Né(e) le
page-assign = Attribuer à ce patient
page-undo = Annuler
page-decided = Attribué au patient numéro { $number } ({ $patient }), aussi pour les courriers suivants. Il sera classé dans un instant ; d'ici là, vous pouvez annuler.
page-look-title = Vérifiez encore une fois
page-look-differs = Le service et le cabinet n'indiquent pas la même chose : ce qui diffère est marqué.
page-look-spelling = Le nom n'est pas écrit de la même façon des deux côtés.
page-look-anothers = Un autre patient a ce numéro : les courriers d'un autre patient du service vont déjà au numéro { $number }.
page-look-another = Dans la liste du cabinet, un autre patient a le numéro { $number }.
page-look-twin = Liste du cabinet, autre patient
page-look-not-listed = Le numéro { $number } n'est pas dans la liste du cabinet. Est-ce un nouveau patient ?
page-look-yes = Oui, attribuer au numéro { $number }
page-look-no = Non, revenir
page-look-filed = Ce courrier est classé sous le numéro { $number }.
page-misfiled-how = Sous un autre numéro, il sera classé une nouvelle fois. La copie dans le mauvais dossier y reste jusqu'à ce que quelqu'un la supprime : la page du courrier indique alors où elle se trouve.
page-waiting-title = En attente
page-uncertain-title = Peut-être arrivés : à vérifier
page-beside-title = En double : supprimer l'ancienne copie
page-not-taken-title = Déposés, pas encore pris ({ $count })
page-today-title = Classés aujourd'hui
page-today-none = Pas encore de courrier classé{ $waits ->
    [0] { "" }
   *[other] { " " }et pris
} aujourd'hui.
page-poll = Relever les nouveaux courriers
page-decisions = Quel patient : décidé ces 30 derniers jours
page-decisions-count = { $count ->
    [one] Afficher { $count } décision
   *[other] Afficher { $count } décisions
}
page-decisions-how = Une erreur ? Ouvrez le courrier et cliquez sur « { page-undo } » ; s'il est déjà classé : « { letter-misfiled } ».
page-decisions-more = Il y en a d'autres : l'historique de chaque courrier montre les siennes.
page-who = Qui
page-who-browser = cette page, navigateur { $browser }
page-taken-back = annulé
page-places = Comptes et destinations
page-accounts = Comptes
page-destinations = Destinations
page-works = fonctionne
page-paused = en pause
page-asked-account = · interrogé { $at }
page-asked-destination = · fonctionnait { $at }
page-next = Prochain essai { $at }.
page-why-there = Voir { $name } plus bas.
page-fold = { $count ->
    [one] Afficher { $count } de plus
   *[other] Afficher les { $count } suivants
}
page-days = Les 30 derniers jours
page-days-summary = { $count ->
    [0] Aucun courrier classé{ $waits ->
        [0] { "" }
       *[other] { " " }et pris
    } ces 30 derniers jours
    [one] { $count } courrier classé ces 30 derniers jours
   *[other] { $count } courriers classés ces 30 derniers jours
}{ $failed ->
    [0] .
    [one] , et { $failed } en échec (rouge).
   *[other] , et { $failed } en échec (rouge).
}
page-days-table = Les nombres dans un tableau
page-day = Jour
page-day-well = courriers classés, tout va bien
page-day-trouble = échec, ou classement impossible
page-day-person = intervention nécessaire
page-day-silent = aucun courrier
page-day-numbers = { $date } : { $filed } classés, { $failed } en échec
page-strip = { $well ->
    [one] { $well } jour sans problème,
   *[other] { $well } jours sans problème,
} { $trouble ->
    [one] { $trouble } avec un problème,
   *[other] { $trouble } avec un problème,
} { $person ->
    [one] { $person } avec une intervention,
   *[other] { $person } avec une intervention,
} { $silent ->
    [one] { $silent } sans courrier.
   *[other] { $silent } sans courrier.
}
page-filed = Classés
page-time = Heure
page-since = Attend depuis
page-patient = Patient
page-type = Type
page-place = Où il se trouve
page-why = Pourquoi
page-state = État
page-action = Action
page-no-type = sans type
page-no-place = non conservé
page-not-taken = déposé, pas encore pris
page-not-replaced = déposé à côté de l'ancienne version
page-for-another = encore chez un autre patient : à supprimer
proof-durable = le fichier est sur le disque
proof-accepted = il y a été accepté
proof-read-back = il a été relu et comparé
proof-taken = pris par le logiciel du cabinet
proof-moved = déplacé par le logiciel du cabinet
proof-sidecar = confirmé par le logiciel du cabinet
proof-probe = montré par le service
proof-query = trouvé là-bas
proof-person = vu là-bas par quelqu'un
page-no-name = sans nom, numéro …{ $number }
page-waits-new = Il est en cours de téléchargement.
page-waits-service = Il reste à télécharger depuis le service.
page-waits-destination = Il reste à classer.
page-waits-taken = Il est déposé, le logiciel du cabinet ne l'a pas encore pris.
page-waits-report = Il est classé ; le service reste à informer.
page-not-filed = Il n'a pas pu être classé.
page-unreported = Il est classé, mais le service refuse la confirmation.
page-more = Il y en a d'autres : la recherche les montre tous.
page-search = Rechercher un courrier
page-search-words = Patient, nom de fichier ou numéro
page-search-day = Reçu le
page-search-any = tous
page-search-go = Chercher
page-search-no-names = Les noms ne sont pas conservés : seuls les numéros des courriers sont trouvés.
page-search-empty = Écrivez un nom, ou choisissez un jour ou un type.
page-search-none = Aucun courrier trouvé. Essayez avec les premières lettres du nom seulement.
page-search-found = { $count ->
    [one] { $count } courrier trouvé.
   *[other] { $count } courriers trouvés.
}
page-search-newest = { $count ->
    [0] Aucun courrier trouvé parmi les plus récents
    [one] { $count } courrier trouvé parmi les plus récents
   *[other] { $count } courriers trouvés parmi les plus récents
} : tous ces mots figurent dans de très nombreux courriers. Écrivez un nom ou choisissez un jour.
page-more-found = Il y en a d'autres : précisez le nom, ou choisissez un jour.
page-close = Verrouiller ce navigateur
page-close-first = Pour le déverrouiller, un administrateur devra lancer « docsyncd open » sur l'ordinateur où tourne docsyncd.
page-contact = Qui appeler : { $contact }
page-support = Fichier pour l'assistance
page-it = Pour l'informaticien : { $what }
page-notice-retried = Un nouvel essai est en cours pour ce courrier. La page montre ce qu'il devient.
page-notice-retried-all = Un nouvel essai est en cours pour tout ce qui a échoué. La page montre ce qu'il en est.
page-notice-polled = docsyncd relève les nouveaux courriers.
page-notice-closed = Ce navigateur est verrouillé : il ne montre plus de noms.
page-notice-locked = Ce navigateur-là est verrouillé : il ne montre plus de noms.
page-notice-assigned-others = Des courriers de ce patient classés auparavant se trouvent sous un autre numéro. Cherchez-les par le nom du patient, ouvrez chacun d'eux et choisissez-y aussi son patient.
page-notice-filed-anew = Le courrier est classé une nouvelle fois, sous le bon numéro. Supprimez la copie dans le mauvais dossier : cette page indique où elle se trouve. Si d'autres courriers de ce patient sont partis sous le mauvais numéro, ouvrez chacun d'eux et choisissez-y aussi son patient.
page-notice-same-number = Rien n'a été modifié : le courrier est déjà classé sous ce numéro.
page-notice-not-read = Rien n'a été modifié : le service n'indique pas en ce moment de quel patient il s'agit. Réessayez dans quelques minutes.
page-notice-unknown = Le courrier n'est plus comme la page le montrait : rien n'a été changé. Regardez de nouveau.
page-notice-not-assigned = Rien n'a été modifié : le courrier n'attend plus cela, ou la liste ou le patient n'est plus ce que la page montrait. Regardez à nouveau.
page-notice-shared-number = Rien n'a été modifié : la liste a deux personnes sous ce numéro. Corrigez-la d'abord.
page-notice-no-number = Rien n'a été modifié : saisissez un numéro.
page-notice-undone = C'est annulé : le courrier attend de nouveau.
page-notice-not-undone = Il est trop tard pour annuler : un courrier de ce patient est déjà classé ainsi, ou en train de l'être.
page-notice-arrived = C'est noté : le courrier est bien arrivé.
page-notice-mended = Cela fonctionne de nouveau : ce qui attendait reprend.
page-notice-not-mended = Un nouvel essai a échoué : cela ne fonctionne toujours pas. La raison est plus bas, sous « { page-places } ».
page-notice-trying = Un nouvel essai est en cours. La page montre ce qu'il en est.
page-back = Vers la page d'état
page-letter-locked = Ce navigateur ne peut pas voir ce courrier
page-letter-locked-do = Un administrateur lance « docsyncd open » sur l'ordinateur où tourne docsyncd, ou un autre navigateur crée un lien (« { page-another } »). Rouvrez ensuite le courrier.
page-no-letter = docsyncd ne connaît pas ce courrier
page-no-letter-do = Son numéro est peut-être faux, ou il vient d'une autre installation.
page-pdf-changed = Ce n'est pas le fichier que docsyncd a classé
page-pdf-changed-do = Autre chose se trouve maintenant à sa place : quelqu'un l'a modifié ou remplacé. docsyncd ne montre que ce qu'il a classé lui-même. Regardez avec le logiciel du cabinet.
page-pdf-gone = Le PDF n'est pas sur cet ordinateur
page-pdf-gone-do = Il a été retiré de son dossier, ou sa destination n'est pas un dossier de cet ordinateur. La page du courrier dit où il est parti.
page-pdf-unknown = Le dossier du PDF ne répond pas
page-pdf-unknown-do = Réessayez dans un instant. Si cela dure, vérifiez que son ordinateur ou son partage est accessible.
page-pdf-not-fetched = Le service ne donne pas le PDF en ce moment
page-pdf-not-fetched-do = Réessayez dans un instant. Si cela dure, la page d'état dit si le service fonctionne.
page-nothing = Il n'y a rien à cette adresse
page-nothing-do = La page d'état est à l'adresse que montre « docsyncd open --print ».
page-opened = Ce navigateur peut maintenant voir les courriers
page-opened-do = Il garde la clé tant que la page est ouverte au moins une fois par mois. « Verrouiller ce navigateur » sur la page la retire.
page-opened-elsewhere = Ce navigateur peut maintenant voir les courriers
page-opened-elsewhere-do = Il garde la clé pendant 90 jours. « Verrouiller ce navigateur » sur la page la retire.
page-not-encrypted = Cette connexion n'est pas chiffrée
page-not-encrypted-do = Les courriers ne sont pas montrés ici. Ouvrez la page à son adresse en https://. Si elle n'en a pas, la personne qui s'occupe des ordinateurs peut lui donner un certificat.
page-another = Pour un autre ordinateur
page-another-how = Ouvrez cette adresse dans un navigateur de l'autre ordinateur dans l'heure qui vient. Ce navigateur voit ensuite les courriers pendant 90 jours.
page-another-tunnel = Les autres ordinateurs n'atteignent pas cette page. La personne qui s'occupe des ordinateurs peut y remédier, avec un certificat pour la page. D'ici là, cette adresse l'ouvre dans un autre navigateur de cet ordinateur, ou par un tunnel (ssh -L), dans l'heure qui vient.
page-another-once = Elle ne sert qu'une fois. Qui l'ouvre voit les courriers : ne la donnez qu'à la personne concernée. La page d'état permet de retirer cet accès.
page-browsers = { $count } navigateurs voient les courriers
page-browser = Navigateur
page-browser-this = celui-ci
page-browser-known = depuis le { $since }, jusqu'au { $until } s'il ne sert pas
page-browser-until = depuis le { $since }, jusqu'au { $until }
page-browser-lock = Verrouiller
page-used = Ce lien n'est plus valable
page-used-do = Un lien sert une seule fois, pendant deux minutes, et pour un autre ordinateur pendant une heure. Créez-en un nouveau. Si quelqu'un d'autre l'a utilisé, verrouillez ce navigateur-là.
page-foreign = Ceci n'a pas été envoyé depuis la page d'état
page-foreign-do = Rien n'a été modifié. Rouvrez la page et recommencez ; si la clé a expiré, lancez « docsyncd open ».
page-too-large = C'est trop long
page-too-large-do = Rien n'a été modifié. Écrivez moins.
page-trouble = docsyncd ne peut pas lire son registre en ce moment
page-trouble-do = Réessayez dans un instant. Si cela dure, appelez votre informaticien : « docsyncd status » et le journal disent pourquoi.

type-operative-report = Compte rendu opératoire
type-referral-letter = Courrier au correspondant
type-cone-beam-report = Compte rendu de cone beam
type-patient-letter = Courrier au patient
type-prescription = Ordonnance
type-initial-medical-certificate = Certificat médical initial
type-attendance-certificate = Certificat de présence
type-contraindication-certificate = Certificat de contre-indication
type-lab-slip = Fiche de laboratoire
type-endo-report = Compte rendu d'endodontie
type-ortho-letter = Courrier d'orthodontie

state-discovered = à télécharger
state-fetched = à classer
state-filed = { page-not-taken }
state-delivered = classé, à confirmer
state-failing = en échec
state-reported = classé
state-failed = en échec
state-unreported = classé, confirmation refusée
state-withdrawn = retiré par le service

## La page d'un courrier

page-number = Numéro
page-account = Compte
letter-pdf = Ouvrir le PDF
letter-fetch = Demander le PDF au service
letter-pdf-gone = Le PDF n'est pas sur cet ordinateur : ci-dessous, où il a été déposé.
letter-pdf-changed = Autre chose se trouve à la place du PDF : il a été modifié ou remplacé.
letter-try-now = Essayer maintenant
letter-arrived = Il est bien arrivé
letter-removed = L'ancienne version est retirée
letter-removed-anothers = La copie chez l'autre patient est supprimée
letter-misfiled = Classé dans le dossier d'un autre patient ?
letter-send-again = Il n'y est pas : renvoyer
letter-uncertain = Il est peut-être arrivé, sans que l'on puisse le savoir.
letter-uncertain-how = Regardez d'abord à destination : le bouton à choisir en dépend.
letter-filed = Il est classé, et c'est confirmé au service.
letter-withdrawn = Le service l'a retiré.
letter-nowhere = Il n'est encore nulle part.
letter-may-have-arrived = peut-être arrivé
letter-there = classé
letter-to-come = à classer
letter-older-version = une version précédente
letter-for-another = classé pour un autre patient
letter-was-removed = classé pour un autre patient, retiré depuis
letter-copy = Copier
letter-copied = Copié
letter-proof = Constaté { $at } :
letter-history = Ce qui s'est passé
letter-history-removed = Ce qui est plus ancien a été supprimé (state.keep_history).
letter-times = ({ $count } fois)
letter-by = par { $who }
letter-decision = Numéro { $number }, { $listed } ; par { $who }
letter-listed = dans la liste du cabinet
letter-not-listed = pas dans la liste du cabinet
letter-more = Détails
letter-created = Créé
letter-found = Trouvé
letter-size = Taille
letter-kilobytes = { $size } ko

event-discovered = Trouvé dans la liste du service
event-fetched = Téléchargé
event-delivered = Classé dans { $name }
event-filed = Déposé dans { $name }, pas encore pris
event-failed = N'a pas pu être classé{ $places ->
    [0] { "" }
   *[other] { " " }dans { $name }
}
event-all-delivered = Classé partout ; le service est prévenu
event-refused = Abandonné ; le service est prévenu
event-report-accepted = Confirmé au service
event-report-refused = Le service a refusé la confirmation
event-gone = Le service ne le montre plus
event-start-over = Recommencé
event-relisted = Redemandé au service
event-revised = Une nouvelle version est arrivée
event-retry-requested = Quelqu'un a demandé un nouvel essai
event-retracted = Remis en attente
event-postponed = N'a pas fonctionné{ $places ->
    [0] { "" }
   *[other] { " " }dans { $name }
} ; nouvel essai prévu
event-waiting = En attente
event-unconfirmed = Peut-être arrivé dans { $name }
event-not-replaced = Classé dans { $name }, à côté de l'ancienne version
event-filed-for-another = La copie dans { $name } était pour un autre patient
event-needs-person = En attente : quel patient ?
event-assigned = Attribué à un patient
event-unassigned = L'attribution a été annulée
event-taken-over = Un autre compte s'en charge
event-forgotten = Ses noms ont été effacés

## Ce que disent `docsyncd list`, `find` et `show`. Colonnes et étiquettes sont des mots dans une ligne.

column-when = quand
column-destination = destination
column-document = courrier
column-reason = motif
column-reason-or-file = motif ou fichier
column-exact = motif exact
column-attempts = échecs
column-next = prochain essai
state-delivered-short = à confirmer
state-unreported-short = non confirmé
state-withdrawn-short = retiré
list-none = aucun courrier
list-no-ledger = il n'y a pas encore de registre dans { $path }
not-known = aucun courrier { $text } n'est connu{ $least ->
    [0] { "" }
   *[other] { " " }(une partie d'un numéro a au moins { $least } caractères)
} ; { $list } montre ceux qui le sont
find-none = aucun courrier trouvé ; essayez avec les premières lettres du nom seulement
find-none-no-names = aucun courrier trouvé ; les noms ne sont pas conservés (state.keep_names) : seuls les numéros sont cherchés
find-none-newest = aucun courrier trouvé parmi les plus récents : tous ces mots figurent dans de très nombreux courriers, écrivez donc un nom
find-nothing = rien à chercher : un mot a au moins une lettre ou un chiffre
find-a-word = MOT
find-more = il y en a plus que ces { $limit } : précisez, ou lancez { $command }
find-older = il y en a peut-être de plus anciens : tous ces mots figurent dans de très nombreux courriers. Écrivez un nom, ou lancez { $command } pour tous les voir
find-for-another = une copie classée pour un autre patient s'y trouve encore : { $command } dit où
show-bytes = { $size } octets
show-patient-number = numéro du patient : { $number }
show-output = ce que le programme a écrit : { $file }
show-attempts = { $count ->
    [one] { $count } essai en échec
   *[other] { $count } essais en échec
}, prochain essai { $next }
show-event-attempt = { $event } (échec { $attempt })
show-history-removed = ce qui est plus ancien a été supprimé (state.keep_history)

## Pourquoi un courrier attend, ou n'a pas pu être classé.

reason-unknown = Le détail est en anglais : docsyncd show, avec son numéro.
reason-quote = { $why } Il dit : « { $line } »
reason-unconfirmed = Il est peut-être arrivé : vérifiez à la destination. S'il n'y est pas, il peut être renvoyé. { $why }
reason-gave-up = docsyncd y a renoncé après de nombreux essais. { $why }
reason-not-taken = Il est déposé, et le logiciel du cabinet ne l'a pas encore pris.
reason-patient-nobody = Le patient n'est pas dans la liste du cabinet.
reason-patient-several = Plusieurs patients de la liste du cabinet peuvent être concernés.
reason-patient-no-date-of-birth = La date de naissance du patient manque.
reason-patient-no-name = Le nom du patient manque.
reason-patient-other-number = À la destination, le patient n'a pas le numéro de celui du courrier.
reason-patient-not-there = La destination n'a aucun patient avec ce numéro : créez-le là-bas, puis réessayez.
reason-patient-several-there = La destination a plusieurs patients avec ce numéro : fusionnez-les là-bas, puis réessayez.
reason-patient-not-held = La destination ne peut pas garder le numéro du patient tel quel (un caractère, sa longueur ou sa fin), et docsyncd ne modifie jamais un numéro : donnez un autre numéro au patient, ou faites modifier les réglages de la destination, puis réessayez.
reason-patient-given-away = Le courrier est parti ailleurs avec un numéro que la liste du cabinet donne maintenant à quelqu'un d'autre.
reason-patient-no-list = Il attend la liste des patients du cabinet.
reason-not-rendered = Son PDF n'est pas encore prêt.
reason-no-content = Le service annonce son PDF, mais son serveur n'en a pas encore le contenu.
reason-rendered-anew = Son PDF est en cours de mise à jour.
reason-other-patient = Le service nomme deux patients pour lui : vérifiez-y de qui est ce courrier.
reason-two-versions = Le service en montre deux versions à la fois : il est vérifié à nouveau.
reason-filed-for-another = Il a été classé auparavant pour un autre patient : retirez-le de là{ $places ->
    [0] .
   *[other] {" "}({ $place }).
}
reason-maybe-for-another = Il a peut-être été classé auparavant pour un autre patient : vérifiez-y, et retirez-le.
reason-may-be-undone = L'attribution peut encore être annulée sur la page d'état : il sera classé dans quelques secondes.
reason-not-read = Le service l'a peut-être corrigé entre-temps et ne le montre pas en ce moment : il est d'abord relu.
reason-many-versions = Le service en montre sans cesse de nouvelles versions : il est téléchargé de plus en plus rarement.
reason-spool-full = L'espace pour les courriers téléchargés est plein (state.spool_limit) : il sera téléchargé quand d'autres auront été classés.
reason-spool-damaged = Son PDF téléchargé a disparu ou a été modifié : docsyncd le télécharge de nouveau. Un antivirus l'a peut-être supprimé.

reason-no-room = La destination { $name } n'a plus de place : { $places ->
    [0] libérez-y de la place.
   *[other] libérez de la place sur le disque qui contient { $place }.
}
reason-no-route = Aucune règle de [[routes]] ne prend ce courrier : ajoutez-en une, puis réessayez.
reason-record-too-large = Le service joint à ce courrier plus de valeurs que docsyncd n'en lit : demandez à la personne qui gère le service.
reason-too-large = Son PDF est plus grand que la limite (sync.max_pdf_bytes).
reason-exit = Le programme de la destination { $name } s'est terminé avec le code { $code }.
reason-signal = Le programme de la destination { $name } a été arrêté par le signal { $code }.
reason-crashed = Le programme de la destination { $name } s'est arrêté sans dire pourquoi.
reason-out-of-time = Le programme de la destination { $name } a mis trop de temps et a été arrêté.
reason-program = Le programme de la destination { $name } ne peut pas être lancé : appelez votre informaticien (docsyncd check).
reason-internal = docsyncd a rencontré un problème sur cet ordinateur : le journal dit lequel.

reason-destination-no-folder = Le dossier de la destination { $name } est introuvable : le partage est-il connecté ?
reason-destination-another-folder = Le dossier de la destination { $name } n'est pas celui où des courriers attendent d'être pris : le partage est-il connecté ?
reason-destination-not-allowed = La destination { $name } ne laisse pas docsyncd écrire : donnez-en le droit à l'utilisateur du service.
reason-destination-read-only = La destination { $name } est protégée en écriture.
reason-destination-in-the-way = Dans la destination { $name }, un autre fichier, dossier ou lien occupe la place du courrier : appelez votre informaticien (docsyncd check).
reason-destination-other-content = La destination { $name } garde un autre contenu sous l'identifiant de ce courrier : regardez là-bas et supprimez-le.
reason-destination-name = La destination { $name } n'accepte pas le nom du fichier : raccourcissez ou simplifiez file_name.
reason-destination-template = Un modèle de la destination { $name } ne peut pas être rempli pour ce courrier : corrigez-le dans la configuration.
reason-destination-encoding = Un caractère de ce courrier n'existe pas dans le codage que lit la destination { $name } : corrigez-le dans le courrier, ou choisissez un autre sidecar_encoding.
reason-destination-patient = La destination { $name } ne permet pas de reconnaître avec certitude le patient de ce courrier : saisissez-y ou corrigez-y son nom et sa date de naissance, puis réessayez.
reason-destination-too-large = La destination { $name } n'accepte pas un fichier de cette taille.
reason-destination-not-written = La destination { $name } n'a pas pu enregistrer le fichier : vérifiez le disque ou le partage.
reason-destination-unreachable = La destination { $name } ne répond pas : est-elle allumée et reliée au réseau ?
reason-destination-crowded = La destination { $name } a autant de connexions qu'elle en accepte, ou écarte cet ordinateur pour un moment : docsyncd réessaie tout seul.
reason-destination-broken-off = La liaison avec la destination { $name } a été coupée, ou le courrier n'y est pas arrivé tel qu'il a été envoyé.
reason-destination-unsuited = La destination { $name } ne répond pas comme prévu : son adresse ou ses réglages sont à vérifier. Appelez votre informaticien (docsyncd check).
reason-destination-host-key = La clé d'hôte de la destination { $name } n'est pas celle qui est connue : demandez à la personne qui gère ce serveur.
reason-destination-sign-in = La destination { $name } refuse l'utilisateur, le mot de passe ou la clé, ou docsyncd ne peut pas les lire.
reason-destination-tls = La liaison chiffrée avec la destination { $name } ne peut pas être établie : appelez votre informaticien (docsyncd check).
reason-destination-busy = La destination { $name } demande d'attendre (code { $code }).
reason-destination-fault = La destination { $name } est en panne (code { $code }).
reason-destination-says-error = La destination { $name } répond qu'elle a échoué : son propre journal dit pourquoi.
reason-destination-not-yet = La destination { $name } répond qu'il n'est pas encore classé, ou introuvable.
reason-destination-unclear-answer = La réponse de la destination { $name } ressemble à un échec, sans en être un à coup sûr : regardez-y si le courrier est arrivé.
reason-destination-status = La destination { $name } a répondu par une erreur (code { $code }).
reason-destination-check = La destination { $name } ne fonctionne pas : l'ordinateur qui contient le dossier est-il allumé, le dossier est-il là, docsyncd peut-il y écrire ?
reason-destination-refuses = La destination { $name } n'accepte pas ce courrier.
reason-destination-fails = La destination { $name } n'a pas pu prendre ce courrier.

reason-service-unreachable = Le service est inaccessible : vérifiez la connexion internet.
reason-service-broken-off = La liaison avec le service a été coupée.
reason-service-signed-out = Le compte { $name } doit se reconnecter au service : appelez votre informaticien.
reason-service-key = Le service refuse la clé du compte { $name } : appelez votre informaticien, il en faut une valable.
reason-service-credentials = docsyncd ne peut pas utiliser ce avec quoi le compte { $name } se connecte au service : appelez votre informaticien.
reason-service-renewal = La connexion du compte { $name } ne peut pas être renouvelée en ce moment : docsyncd réessaie tout seul.
reason-service-not-allowed = Le compte n'en a pas le droit : demandez à l'exploitant du service le droit qui manque.
reason-service-not-found = Le service dit ne pas connaître ce courrier : docsyncd le vérifie dans la liste.
reason-service-busy = Le service demande d'attendre (code { $code }).
reason-service-fault = Le service est en panne (code { $code }).
reason-service-status = Le service a répondu par une erreur (code { $code }).
reason-service-report = Le service n'accepte pas la confirmation (code { $code }).
reason-service-not-understood = La réponse du service est incompréhensible ; un proxy la change peut-être.
reason-service-no-pdf = Le PDF de ce courrier ne se trouve pas à l'adresse que le service donne (code { $code }).
reason-service-insecure = L'adresse du PDF ou de l'API n'est pas chiffrée (https) : refusée, car des données de patients circuleraient en clair.
reason-service-address = L'adresse du PDF n'est pas permise : si les PDF s'y trouvent vraiment, nommez l'hôte dans api.pdf_hosts.
reason-service-refuses = Le service refuse de donner ce courrier.
reason-service-fails = Le service n'a pas pu donner ce courrier.
reason-not-a-pdf = Ce que le service a envoyé n'est pas un PDF ; un proxy ou une page de connexion l'a peut-être remplacé.
reason-wrong-size = Le PDF reçu n'a pas la taille annoncée.
reason-no-end = La connexion s'est terminée, semble-t-il, avant la fin du PDF.
reason-slow = Le téléchargement est trop lent.
reason-spool = docsyncd ne peut pas garder le PDF sur son disque : { $places ->
    [0] libérez de la place.
   *[other] libérez de la place sur le disque qui contient { $place }.
}
reason-cut-off = docsyncd s'est arrêté pendant la lecture de ce courrier.

## Le dialogue de `docsyncd setup`. Ce qui finit par `-help` est affiché sous la question du même nom. Les mots des choix sont dans config/presets.

setup-changed = { $file } sera modifié si vous le confirmez à la fin ; ses commentaires restent tels quels.
setup-new = { $file } sera écrit à la fin.
setup-begin = Les réponses sont vérifiées au fur et à mesure. Rien n'est écrit avant la fin ; Ctrl+C laisse tout tel quel.
setup-begin-back = Échap ou { $back } revient à la question précédente.
setup-nothing-written = Rien n'a été écrit.
setup-interrupted = Interrompu. Rien n'a été écrit.
setup-no-terminal = setup pose des questions, et il n'y a pas de terminal où les poser : donnez-lui les réponses dans un fichier, comme dans docsyncd setup --answers answers.toml (docs/first-hour.md en a un)
setup-unusable-terminal = le terminal est inutilisable
setup-keys = ↑ ↓ choisir · Entrée valider · Échap retour
setup-gone-back = (retour)
setup-its-number = Son numéro :
setup-number-expected = un nombre de 1 à { $most } est attendu
setup-yes = Oui
setup-no = Non
setup-usual-yes = O/n
setup-usual-no = o/N
setup-yes-or-no = o ou n est attendu
setup-refused = Cela ne fonctionne pas : { $why }
setup-needed = il faut une réponse
setup-not-expected = { $text } n'est pas ce qui est attendu ici
setup-no-list = pas une liste valable comme ["a", "b"]
setup-as = { " " }(utilisateur { $user })
setup-cannot-read = { $file } ne peut pas être lu{ $whom } ({ $why })
setup-no-place = cet endroit n'existe pas
setup-mend = setup ne modifie qu'un fichier lisible : corrigez-le, ou déplacez-le pour recommencer à neuf
setup-file-head =
    La configuration de docsyncd. Pour la modifier : docsyncd setup ; pour la vérifier : docsyncd check.
    Une ligne qui commence par # est un commentaire. Un réglage derrière # sans espace est facultatif, et montre sa
    valeur habituelle ou un exemple : retirez le # pour l'utiliser. La suite des commentaires est en anglais ; ce que
    setup demande, docs/fr/first-hour.md l'explique.
answers-unreadable = les réponses ne peuvent pas être lues{ $whom } ({ $why })
answers-letter-case = { $one } et { $other } ne diffèrent que par les majuscules : gardez-en un seul
answers-no-file = il n'y a ni { $all }, ni { $own }, le nom de cet ordinateur
answers-text = un texte est attendu
answers-choice = une de ces valeurs est attendue : { $names }
answers-true-or-false = true ou false est attendu
answers-no-value = ce n'est pas une valeur de réglage
answers-no-toml = la ligne { $line } n'est pas du TOML valide
answers-table-alerts = `alerts` est une section, pas une valeur : écrivez [alerts] et, au-dessous, `webhook_url_from`, ou [alerts.mail] avec `host` et `to`
answers-table-patients = `patients` est une section, pas une valeur : écrivez [patients] et, au-dessous, `file`
answers-unknown = réponse inconnue `{ $name }` ; la plus proche qui existe est `{ $nearest }`
setup-first = c'est la première question
setup-note = remarque : { $note }
setup-address = Adresse du service en ligne :
setup-address-help = telle que son exploitant la donne, par exemple https://api.example.test
setup-answers = le service répond
setup-meant = compris comme { $address }
setup-meant-host = compris comme { $host }, port { $port }
setup-meant-folder = compris comme { $folder }
setup-no-mail-address = { $text } n'est pas une adresse e-mail
setup-mount = c'est un partage de Windows, pas un dossier d'ici. Montez-le d'abord : sudo mount -t cifs -o credentials=FICHIER { $share } /mnt/courriers (et inscrivez-le dans /etc/fstab), puis donnez /mnt/courriers
setup-account = Quel compte :
setup-auth = Connexion au service :
setup-auth-key = avec une clé d'API
setup-auth-sign-in = dans le navigateur
setup-keep-key = Continuer avec { $key } ?
setup-key-in-file = la clé dans { $file }
setup-key-given = la clé qui vient d'être donnée
setup-key-environment = la clé de la variable d'environnement
setup-key = Clé d'API :
setup-key-help = collez-la, elle n'est pas affichée ; ou écrivez @FICHIER pour un fichier qui la contient
setup-key-needed = il faut une clé : collez-la
setup-key-needed-file = il faut une clé : nommez son fichier, ou "-" pour l'entrée standard
setup-accepted = acceptée ; { $waiting }
setup-accepted-person = acceptée : { $person } ; { $waiting }
setup-accepted-practice = acceptée : { $person } ({ $practice }) ; { $waiting }
setup-waiting = { $count ->
    [0] aucun courrier n'attend
    [one] { $count } courrier attend
   *[other] { $count } courriers attendent
}
setup-waiting-many = { $count } courriers ou plus attendent
setup-pages = Adresse des pages du service, où l'on se connecte :
setup-pages-help = telle que son exploitant la donne, par exemple https://app.example.test
setup-client-id = Identifiant de l'application :
setup-client-id-help = l'exploitant le donne (client_id), avec un secret, pour ce cabinet
setup-client-secret = Secret de l'application (client secret) :
setup-client-secret-help = collez-le, il n'est pas affiché ; ou écrivez @FICHIER
setup-client-secret-needed = il faut un secret de l'application
setup-port = Port de l'adresse de retour enregistrée :
setup-port-help = l'exploitant enregistre http://127.0.0.1:PORT/callback, au caractère près ; 0 : n'importe lequel
setup-port-expected = un nombre de 0 à 65535 est attendu
setup-port-taken = le port { $port } est déjà pris : un autre programme de cet ordinateur l'utilise. Choisissez-en un autre
setup-sign-in = Connecter le compte { $name } :
setup-sign-in-browser = maintenant, dans le navigateur de cet ordinateur
setup-sign-in-paste = maintenant, dans un navigateur ailleurs : l'adresse est affichée, et la réponse collée ici
setup-sign-in-later = plus tard, avec { $command }
setup-destination = Quelle destination :
setup-place = { $name } : { $place }
setup-another-place = un autre endroit, en plus des destinations existantes
setup-name = Un nom court pour cet endroit :
setup-name-help = des lettres, des chiffres, - et _ ; docsyncd status et le journal l'appellent ainsi
setup-name-refused = seulement a à z, des chiffres, - et _, et aucun des noms déjà pris
setup-letters = Quels courriers y vont :
setup-letters-all = tous, en plus de { $places }
setup-letters-also = ceux de certains types, en plus de { $places }
setup-letters-only = ceux de certains types, qui ne vont alors nulle part ailleurs
setup-types = Quels types :
setup-types-help = séparés par des virgules : { $types }
setup-types-unknown = { $type } n'est pas un type de courrier
setup-preset = Où vont les courriers :
setup-same-place = au même endroit que maintenant : { $place }
setup-same-place-about = garde le nom du fichier et tout le reste ; seul ce qui est demandé ensuite peut changer
setup-other = Mon logiciel n'est pas nommé ici
setup-other-about = ce que l'on sait d'autres, par leur nom, et les voies générales
setup-other-france = France : rien de public ne dit comment Logosw, Julie, Visiodent, Veasy, Desmos et TM-XDI prennent un document. Demandez à leur éditeur un dossier surveillé, ou HPRIM (config/examples/hprim.toml).
setup-other-germany = Allemagne : Turbomed, Medistar et Medical Office prennent GDT (config/examples/gdt.toml) ; dans charly, quelqu'un doit importer les fichiers à la main. Rien de public ne le dit de DS-Win, Evident, medatixx et x.isynet : demandez GDT, VDDS-media ou un dossier surveillé.
setup-other-english = Pays anglophones : Dentally a une interface sur invitation, dans EXACT quelqu'un doit importer à la main, Dentrix a une boîte pour les documents non classés. Rien de public ne le dit d'Eaglesoft, Curve, Carestream et Pearl : demandez un dossier surveillé.
setup-source = source : { $address }
setup-secret = la saisie n'est pas affichée ; @FICHIER pour un fichier qui la contient
setup-secret-there = la saisie n'est pas affichée ; @FICHIER pour un fichier qui la contient ; vide : ce qui est là reste
setup-secret-optional = la saisie n'est pas affichée ; @FICHIER pour un fichier qui la contient ; vide : il n'y en a pas
setup-secret-removable = la saisie n'est pas affichée ; @FICHIER pour un fichier qui la contient ; vide : ce qui est là reste ; - pour l'enlever
setup-removes = - pour l'enlever
setup-secret-needed = il faut un secret
setup-what-key = la clé
setup-what-client-secret = le secret de l'application
setup-what-secret = le secret
setup-pasted-quoted = il y a des guillemets autour : donnez { $what } sans rien d'autre
setup-pasted-bearer = il y a le mot Bearer ou Authorization devant : donnez { $what } sans rien d'autre
setup-pasted-empty = c'est vide : donnez { $what }
setup-pasted-other = la forme n'est pas la bonne : donnez { $what }, une seule ligne de lettres, de chiffres et de signes, sans espace
setup-pasted-private-key = ce n'est pas une clé privée : nommez son fichier, comme dans @/media/usb/id_ed25519
setup-pasted-empty-password = c'est vide : il faut un mot de passe
setup-pasted-password = ce n'est pas un mot de passe : une seule ligne est attendue
setup-choice-encryption-starttls = STARTTLS, après l'accueil (habituel)
setup-choice-encryption-tls = TLS dès le début
setup-choice-encryption-none = aucun (seulement vers un serveur sur cet ordinateur)
setup-choice-on-lost-reply-resend = il est renvoyé, sous le même numéro
setup-choice-on-lost-reply-hold = il attend que quelqu'un ait regardé
setup-choice-profile-mhd = IHE MHD
setup-choice-profile-pdsm = PDSm (France)
setup-choice-profile-isik = ISiK (Allemagne)
setup-choice-profile-plain = FHIR seulement
setup-choice-webhook-format-json = un objet JSON par message (docs/json.md)
setup-choice-webhook-format-teams = Microsoft Teams (un flux de travail)
setup-choice-webhook-format-slack = Slack, ou Mattermost
setup-choice-webhook-format-ntfy = ntfy
setup-choice-webhook-format-gotify = Gotify
setup-no-sub-folders = ce qui reçoit les courriers ne lit pas de sous-dossiers : laissez-le de côté, ou donnez-en un sans / ni \
setup-tried = vérifié : cela fonctionne
setup-tried-program = vérifié : il est là et peut être lancé
setup-tried-folder = vérifié : un fichier y a été écrit, a reçu son nom, et a été supprimé
setup-tried-folder-as = vérifié : des fichiers peuvent y être écrits, aussi par { $user }, l'utilisateur du service
setup-tried-host = vérifié : { $host } répond
setup-try-again = Réessayer ?
setup-give = Le dossier n'est pas à { $user }, l'utilisateur du service. Le lui donner ?
setup-give-answer = { $why } ; ou répondez give_folder = true
setup-stopped = l'utilisateur du service, { $user }, n'a pas le droit de passer par { $folder } : chmod o+x { $folder }
setup-may-not-file = l'utilisateur du service, { $user }, n'a pas le droit d'écrire dans { $folder } (mode { $mode }, de l'utilisateur { $owner }) : donnez-lui le dossier avec chown { $user } { $folder }
setup-may-not-read = l'utilisateur du service, { $user }, n'a pas le droit de lire { $folder } : donnez-le-lui avec chmod o+r { $folder }, ou chgrp { $user } { $folder } et chmod g+r { $folder }
setup-you = vous
setup-reader = Qui y lit les courriers :
setup-reader-help = un utilisateur ou un groupe de cet ordinateur ; vide : seulement { $user } (et root)
setup-reader-takes = Est-ce que { $reader } les emporte aussi (en les déplaçant ou en les supprimant) ?
setup-reader-gets = le groupe de { $reader } peut lire : 0640 pour les fichiers, { $mode } pour les dossiers
setup-reader-stopped = { $reader } n'a pas le droit de passer par { $folder } : donnez-le-lui avec chmod o+x { $folder }
setup-no-reader = cet ordinateur ne connaît ni utilisateur ni groupe { $reader }
setup-no-group = cet utilisateur n'a pas de groupe
setup-only-root-gives = seul root peut donner { $folder } à un groupe : lancez setup avec sudo, ou d'abord sudo chgrp { $group } { $folder } et sudo chmod 2750 { $folder } (destination { $name })
setup-only-root = seul root (sudo) peut installer pour un autre utilisateur
setup-group = { $name } est un groupe, pas un utilisateur
setup-server-key = Le serveur montre { $fingerprint } ({ $algorithm }). Son exploitant dit-il la même chose ?
setup-server-key-help = demandez-lui par téléphone ou par écrit ; rien n'est envoyé à un serveur qui a une autre clé
setup-server-key-answer = le serveur montre { $fingerprint } ({ $algorithm }) : demandez à son exploitant si c'est juste, et répondez host_key = "{ $fingerprint }"
setup-server-key-other = CE N'EST PAS la clé connue, { $known } : si son exploitant ne l'a pas changée, quelqu'un intercepte la connexion
setup-server-key-refused = rien n'est envoyé à un serveur inconnu
setup-list = Liste des patients, telle que le logiciel du cabinet l'exporte :
setup-list-help = un fichier CSV, dont la première ligne nomme les colonnes (docs/patients.md) ; vide : aucune
setup-column-number = le numéro du patient
setup-column-last-name = le nom
setup-column-first-name = le prénom
setup-column-date-of-birth = la date de naissance
setup-column-former-name = un autre nom (de naissance)
setup-column = Quelle colonne contient { $holds } :
setup-no-column = quelle colonne contient { $holds } ? Le fichier a { $columns }
setup-in-column = { $holds } dans `{ $name }`
setup-patients = { $count } patients ({ $facts }) ; { $columns }
setup-no-patients = il ne contient aucun patient : exportez-le de nouveau
setup-match = courrier concernant { $who } → { $number }
setup-number = numéro { $number }
setup-no-match = aucun courrier n'est encore visible pour le vérifier
setup-right = Est-ce juste ?
setup-right-help = non : un autre fichier
setup-written-with = Dates ou caractères du fichier :
setup-day-first = le jour d'abord
setup-month-first = le mois d'abord
setup-cp850 = DOS Europe de l'Ouest (cp850)
setup-cp437 = DOS États-Unis (cp437)
setup-iso-8859-15 = iso-8859-15
setup-another-file = ni l'un ni l'autre : un autre fichier
setup-by-number = Nommer les courriers ainsi : { $name } ?
setup-by-number-help = non : { $now }
setup-more = Autres réglages :
setup-more-nothing = terminer
setup-more-nothing-told = terminer, sans alerte
setup-lose = Revenir en arrière et abandonner ce qui vient d'être réglé ici ?
setup-none = { $what ->
    [place] nulle part
    [reader] personne d'autre
    [address] aucune
    [account] aucune
    [key] aucune
    [alarm] aucune
    [patients] aucune
    [confirm] aucune
    [page] aucune
   *[other] aucun
}
setup-more-there = (tel quel, ou à modifier)
setup-more-patients = Le numéro de chaque patient dans le cabinet
setup-more-patients-about = d'après une liste que son logiciel exporte ; les noms des fichiers peuvent le contenir
setup-more-confirm = La preuve que le logiciel du cabinet a pris chaque courrier
setup-more-confirm-about = par ce qu'il fait du fichier ; le service n'en est informé qu'alors
setup-confirm = Ce que le logiciel du cabinet fait d'un courrier :
setup-confirm-none = rien : le courrier compte dès qu'il est déposé
setup-confirm-taken = emporte le fichier : le courrier compte quand il n'y est plus
setup-confirm-moved = le déplace dans un sous-dossier : il compte quand il y est
setup-confirm-renamed = le renomme : il compte quand il est là sous un autre nom
setup-confirm-sidecar = écrit une ligne dans le fichier d'accompagnement : il compte alors
setup-confirm-folder = Dans quel sous-dossier :
setup-confirm-line = Quelle ligne :
setup-confirm-line-help = CLÉ=VALEUR
setup-test = Envoyer maintenant un message à chacun, pour le voir arriver ?
setup-test-refused = tous n'ont pas accepté le message ; docsyncd alerts test réessaie
setup-page = Afficher l'état de docsyncd dans le navigateur de cet ordinateur ?
setup-page-help = sur 127.0.0.1 seulement ; les noms des patients et des fichiers demandent la clé que donne docsyncd open
setup-page-port = Port de la page :
setup-page-port-help = sur 127.0.0.1, pour le navigateur de cet ordinateur
setup-ledger = Où docsyncd peut-il garder son registre :
setup-ledger-help = un fichier sur un disque local ; il dit quel courrier est allé où
setup-no-ledger = le registre { $file } ne peut pas être écrit{ $whom } ({ $why })
setup-give-file = l'utilisateur du service est { $user } : donnez-lui le fichier avec chown { $user } { $file }
setup-shown-waiting = Ce qui attend serait classé sous
setup-shown-known = Les courriers seraient classés sous
setup-shown-invented = Aucun courrier n'est encore visible ; un courrier inventé serait classé sous
setup-shown-person = le courrier …{ $who } attend quelqu'un : { $why }
setup-write = Écrire { $file } ?
setup-write-yes = oui
setup-write-change = changer d'abord une réponse
setup-write-no = non, tout laisser tel quel
setup-change = Que faut-il changer ?
setup-change-done = rien de plus
setup-part-address = l'adresse du service en ligne : { $value }
setup-part-account = le compte, et sa clé ou sa connexion : { $value }
setup-part-place = où vont les courriers ({ $name }) : { $value }
setup-part-reader = qui les y lit ({ $name }) : { $value }
setup-part-practice = le nom du cabinet, et la personne à appeler : { $value }
setup-part-patients = la liste des patients du cabinet : { $value }
setup-part-confirm = preuve que le logiciel a pris chaque courrier ({ $name }) : { $value }
setup-part-page = la page dans le navigateur : { $value }
setup-remove-mail = enlever l'alerte par e-mail
setup-remove-webhook = enlever l'alerte par webhook
setup-remove-heartbeat = enlever la surveillance
setup-remove-patients = enlever la liste des patients
setup-remove-page = enlever la page dans le navigateur
setup-removed = il sera enlevé à l'écriture
setup-remove-needed = un autre réglage en a besoin : changez-le d'abord ({ $why })
setup-rights = droits sur { $file } modifiés
setup-rights-refused = les droits sur { $file } n'ont pas pu être modifiés, et rien n'a été écrit
setup-secret-written = { $file } écrit, que personne d'autre ne peut lire
setup-given = { $file } donné à { $user }
setup-give-refused = { $file } ne peut pas être donné au service
setup-stays = { $file } reste tel quel
setup-written = { $file } écrit
setup-written-kept = { $file } écrit ; ce qu'il était avant est dans { $kept }
setup-write-refused = { $file } ne peut pas être écrit
setup-may-not-write = impossible d'écrire dans { $folder }{ $whom } ({ $why }). C'est là que setup écrit : lancez-le avec sudo, ou choisissez un autre fichier avec --config FICHIER
setup-may-not-write-windows = impossible d'écrire dans { $folder }{ $whom } ({ $why }). C'est là que setup écrit : ouvrez la console en tant qu'administrateur, ou choisissez un autre fichier avec --config FICHIER
setup-tried-as-root = (vérifié en tant que root, et non { $user }, qui n'a pas pu lancer ce programme)
setup-fail-first = Réparez d'abord ce qui porte FAIL.
setup-runs-already = docsyncd tourne déjà et reprend cette configuration. Son état : { $command }
setup-start = Démarrer le service : { $command }
setup-what-it-does = Ce qu'il fait : { $command }
setup-install = Si le MSI ne l'a pas installé : { $command }
setup-once = Classer une fois ce qui attend : { $command }
setup-until = Laisser tourner jusqu'à ce qu'on l'arrête : { $command }
setup-open = L'état, dans le navigateur : { $command }

## Ce qui n'a pas fonctionné : la raison exacte suit entre parenthèses, en anglais.

told-configuration = la configuration est inutilisable
told-configuration-at = la configuration est inutilisable : { $place }
told-no-configuration = { $file } : ce fichier de configuration n'existe pas. docsyncd setup pose les questions nécessaires et l'écrit ; ou indiquez le vôtre avec --config FICHIER
told-refused-key = le service refuse cette clé : vérifiez-la, ou demandez-en une nouvelle à l'exploitant du service
told-busy = le service demande d'attendre : réessayez plus tard
told-fault = le service est en panne : réessayez plus tard
told-ledger = le registre de docsyncd est inutilisable
told-ledger-new = le registre ne peut pas y être créé
told-log = le fichier journal ne peut pas être écrit
told-failed = cela n'a pas fonctionné
told-answer = cette réponse ne convient pas
told-answer-address = ce n'est pas une adresse web : écrivez-la comme https://api.example.test
told-answer-unencrypted = cette adresse n'est pas chiffrée : écrivez-la avec https://
told-answer-address-alone = donnez l'adresse seule, sans nom d'utilisateur et sans ce qui suit ? ou #
told-answer-whole-path = écrivez le chemin entier, sans ~
told-answer-duration = un nombre avec son unité est attendu, par exemple 30s, 15m, 6h ou 7d
told-note = à savoir
told-good = vérifié
note-key = clé du serveur : { $key }
note-durable = chaque courrier y est écrit durablement sur le disque
note-no-overwriting = rien n'y est écrasé
note-only-size = seule la taille est relue
note-recipients = aucun destinataire n'a été essayé, car il change à chaque courrier
note-mail-size = e-mails jusqu'à { $key }
note-no-sign-in = la connexion fonctionne ; check_url essaierait aussi les identifiants
note-finds-letters = la recherche d'un courrier fonctionne
note-finds-patients = la recherche d'un patient fonctionne
note-searches = chaque courrier est recherché avant d'être envoyé
note-not-written = rien n'a été écrit pour l'essai, car la clé ne peut pas supprimer
note-read-back = chaque courrier est relu et comparé
note-not-started = son programme est { $key } ; il n'est pas lancé pour l'essai
note-no-message = la connexion fonctionne ; aucun message n'est envoyé pour l'essai
note-lost-waits = si une réponse se perd, le courrier attend une personne
note-lost-again = si une réponse se perd, le courrier est envoyé de nouveau
told-api = le service n'a pas répondu comme prévu
told-unreachable = à cette adresse, le service ne répond pas : vérifiez-la
told-refused = le service refuse cet accès
told-broken-off = la connexion au service s'est interrompue
told-signed-out = le compte doit se reconnecter
told-no-key = le compte n'a pas de clé ni de connexion utilisable
told-not-allowed = le compte n'en a pas le droit : demandez-le à l'exploitant du service
told-not-the-service = un autre programme répond à cette adresse : est-elle complète, avec son chemin ?
told-no-folder = le dossier { $folder } est introuvable : existe-t-il, et le partage est-il connecté ?
told-folder = le dossier { $folder } est inutilisable
told-reader = celui qui doit y lire les courriers ne le peut pas
told-program = le programme ne peut pas être lancé : vérifiez son nom et son chemin
told-mail-server = le serveur de messagerie ne fonctionne pas ainsi : vérifiez son nom, le port, l'utilisateur et le mot de passe
told-server = cette destination ne fonctionne pas ainsi : vérifiez l'adresse, l'utilisateur et le mot de passe
told-no-folder-there = ce dossier n'existe pas sur le serveur : créez-le là-bas, ou corrigez-le
told-alarm = impossible de prévenir par cette voie
told-alarm-unencrypted = le serveur de messagerie ne propose pas de chiffrement (STARTTLS), et rien n'est envoyé sans
told-recipient = l'un des destinataires est refusé
told-port = le port est inutilisable : un autre programme l'occupe peut-être
told-certificate = le certificat de la page est inutilisable
told-certificate-doubt = les navigateurs ne font pas confiance au certificat de la page, ou bientôt plus
told-webhook = le compte ne peut pas enregistrer de webhook
told-sign-in = personne n'a été connecté
told-list = la liste des patients { $file } est inutilisable
told-list-missing = il n'y a pas de fichier { $file } : exportez-y la liste
told-list-unreadable = docsyncd n'a pas le droit de lire la liste des patients { $file }
told-list-later = la liste des patients { $file } est illisible pour l'instant : l'export n'est peut-être pas terminé, ou son partage est absent
told-list-doubt = elle n'est peut-être pas entière
told-list-workbook = { $file } est un classeur d'Excel ou d'un programme semblable : enregistrez-le comme CSV UTF-8, et nommez ce fichier
told-list-encoding = des lettres de { $file } sont illisibles : exportez-le comme CSV UTF-8
told-list-columns = la première ligne de { $file } ne nomme pas les colonnes nécessaires
told-list-two-ways = les dates de { $file } se lisent de deux façons : jour ou mois d'abord
told-list-dates = une date de naissance de { $file } est illisible
told-list-content = { $file } est inutilisable tel quel : exportez-le de nouveau
refused-by-ledger = la configuration est inutilisable ({ $why }) ; ceci s'appuie sur le registre { $ledger }
no-account = il n'y a pas de compte « { $name } » ; le plus proche est « { $nearest } »
account-all-by-key = aucun compte n'a besoin de se connecter : tous ont une clé d'API. Mettez auth = "oauth" pour celui qui doit le faire
account-by-key = le compte { $name } a une clé d'API et n'a pas besoin de se connecter ; avec auth = "oauth", si. Une nouvelle clé se met dans { $place }
account-not-there = il n'y a pas de compte { $name } à connecter ; il y a : { $names }
account-which = plusieurs comptes se connectent : choisissez-en un avec --account ({ $names })
root-made-folder = avertissement : { $folder } a été créé et appartient à root, qui a lancé cette commande. Si le service a un autre utilisateur, il ne peut pas y écrire : donnez-lui le dossier avec chown -R UTILISATEUR { $folder }
typed-unknown-option = option inconnue : { $what }
typed-unknown-command = commande inconnue : { $what }
typed-no-command = il manque une commande
typed-missing = il manque : { $what }
typed-conflict = ne va pas avec le reste : { $what }
typed-value = ne convient pas : { $what }
typed-otherwise = cette commande contient une erreur
typed-similar = ressemble à : { $what }
typed-possible = possibles : { $what }
typed-usage = utilisation : { $usage }
typed-more = la même commande avec --help en dit plus (en anglais)
named-several = { $text } fait partie de { $count } identifiants (uuid) : écrivez-en davantage

## `docsyncd check`

check-what-config = configuration
check-what-account = compte { $name }
check-what-api = service
check-what-destination = destination { $name }
check-what-patients = liste des patients
check-what-alerts-mail = alertes par e-mail
check-what-alerts-webhook = alertes par webhook
check-what-alerts-heartbeat = surveillance
check-what-alerts-mail-of = alertes par e-mail de { $name }
check-what-alerts-webhook-of = alertes par webhook de { $name }
check-what-alerts = alertes
check-what-status-page = page d'état
check-what-certificate-of-the-status-page = certificat de la page
check-what-webhook = webhook
check-what-webhook-of = webhook de { $name }
check-what-ledger = registre
check-what-log = journal
check-what-spool = espace disque
list-dates = dates comme { $date }
check-list-unused = { $file } : aucune destination n'utilise la liste : mettez {"{{"} patient.number {"}}"} dans le file_name d'une destination, ou docsyncd setup le propose
check-answers = le service répond ; { $waiting }
check-answers-as = le service répond ; { $waiting } ; connecté : { $user }
check-answers-practice = le service répond ; { $waiting } ; cabinet : { $practice }
check-answers-as-practice = le service répond ; { $waiting } ; connecté : { $user }, cabinet : { $practice }
check-waiting = { $count ->
    [0] aucun courrier n'attend
    [one] 1 courrier n'est pas encore confirmé au service
   *[other] { $count } courriers ne sont pas encore confirmés au service
}
check-waiting-many = { $count } courriers ou plus ne sont pas encore classés
check-clock-ahead = l'horloge de cet ordinateur avance de { $apart } sur celle du service : faites-la régler par le réseau ({ $how })
check-clock-behind = l'horloge de cet ordinateur retarde de { $apart } sur celle du service : faites-la régler par le réseau ({ $how })
check-clock-windows = Paramètres, Heure, Régler l'heure automatiquement
check-alarm = { $host } répond ; docsyncd alerts test envoie un message
check-args = `args` nomme le patient, et d'autres utilisateurs de cet ordinateur voient les arguments : faites lire l'entrée standard au programme
check-works = fonctionne
check-reads = { $works } ; { $reader } peut lire ce qui est classé
check-ledger-runs = { $path } ; docsyncd tourne
check-ledger-idle = { $path } ; docsyncd est arrêté
check-ledger-new = { $path } sera créé au premier démarrage
check-page-served = { $address }, affichée par docsyncd qui tourne
check-page-silent = docsyncd dit servir { $address }, et n'y répond pas
check-page-late = { $address } est libre, mais docsyncd n'y affiche pas encore la page : il essaie toutes les 30 s
check-page-free = { $address } est libre ; docsyncd y affichera la page
check-page-certificate = le certificat et sa clé sont utilisables
check-webhook-heard = docsyncd écoute à http://{ $address }/
check-webhook-late = http://{ $address }/ est libre, mais docsyncd n'y écoute pas encore : il essaie toutes les 30 s
check-webhook-free = http://{ $address }/ est libre ; docsyncd y écoutera
check-webhook-may = le compte peut en enregistrer un : c'est vérifié, et annulé
check-full = le disque qui contient { $path } est plein : libérez de la place
check-short = le disque qui contient { $path } a { $left } de libre, et ce qui attend en demande environ { $needed } : libérez de la place
check-no-patients = { $file } ne contient aucun patient : chaque courrier qui demande un numéro attend quelqu'un
check-doubt = { $list } ; { $doubt } : si c'est juste, il n'y a rien à faire : la liste compte quand elle n'a pas changé pendant une minute
check-not-held = { $file }, ligne { $rows } : la destination `{ $name }` ne peut pas garder le numéro du patient tel quel, et ses courriers attendront quelqu'un
check-rows-more = { $rows } et { $more } de plus
check-list-defect = { $file } : la lecture s'est arrêtée au milieu, ce qui est un défaut de docsyncd
check-patients = { $count } patients dans { $file } ({ $facts })
check-without-number = { "" } ; { $rows } sans numéro, qui ne comptent pas
check-without-date = { "" } ; { $rows } sans date de naissance, à qui aucun courrier n'est attribué tout seul

## `docsyncd assign`

assign-no-list = il n'y a pas de liste de patients pour attribuer les courriers : ajoutez une section [patients] (docs/patients.md)
assign-which = quel courrier ? Nommez-le : { $command }
assign-ended = courrier { $uuid } : son patient n'est pas connu : le courrier est terminé, ou pas encore téléchargé ; { $command } montre où il en est
assign-not-read = courrier { $uuid } : il est déjà classé, et le service ne dit pas en ce moment qui est son patient
assign-not-listed = courrier { $uuid } : personne dans la liste du cabinet n'a ce numéro ({ $number }) : corrigez-le, ou ajoutez --not-listed si le patient y est nouveau
assign-no-number = courrier { $uuid } : un numéro a au moins un caractère, et aucun d'invisible
assign-shared = courrier { $uuid } : la liste du cabinet a deux personnes sous ce numéro : corrigez-la d'abord
assign-document = courrier { $uuid }
assign-in-cloud = dans le service en ligne : { $last } { $first }, naissance : { $born }
assign-cloud = dans le service en ligne
assign-list = dans la liste du cabinet
assign-last = nom
assign-first = prénom
assign-born = date de naissance
assign-differs = différent
assign-known = le numéro du patient est { $number } : il n'y a rien à décider
assign-changed = il a déjà été attribué, et un nom ou une date de naissance a changé depuis
assign-nobody = la liste n'a personne au nom semblable
assign-may-be = patients possibles :
assign-column-number = numéro
assign-column-last-name = nom
assign-column-first-name = prénom
assign-column-born = naissance
assign-column-differs = ce qui diffère
assign-column-letter = courrier
assign-column-in-list = dans la liste
assign-column-assigned = attribué
assign-column-by = par
assign-nothing = rien
assign-part-of-last-name = seule une partie du nom est la même
assign-part-of-first-name = seule une partie du prénom est la même
assign-swapped-names = nom et prénom sont inversés
assign-day-and-month = jour et mois de naissance sont inversés
assign-one-digit = un chiffre de la date de naissance
assign-no-date-of-birth = une date de naissance manque
assign-first-name = le prénom (un jumeau ?)
assign-last-name = le nom
assign-date-of-birth = la date de naissance
assign-shared-number = la liste a deux personnes sous ce numéro
assign-settles = { $command } l'attribue
assign-unlisted = le numéro { $number } n'est pas dans la liste du cabinet
assign-none = rien n'a été attribué
assign-done = { $uuid } : attribué au patient numéro { $number } ({ $patient }), aussi pour les courriers suivants ; { $when }
assign-anew = { $uuid } : son patient a le numéro { $number } ({ $patient }), et le courrier est classé de nouveau sous ce numéro ; { $when }. La copie sous l'autre numéro reste où elle est : { $command } dit où ; retirez-la de là
assign-others = { $count ->
    [one] Un autre courrier de ce patient a été classé auparavant sous un autre numéro et y reste : { $letters }. Si ce numéro était faux, lancez aussi { $command } pour lui
   *[other] { $count } autres courriers de ce patient ont été classés auparavant sous un autre numéro et y restent : { $letters }. Si ce numéro était faux, lancez aussi { $command } pour chacun d'eux
}
assign-not-in-list = absent de la liste
assign-nobody-asked = personne ne peut confirmer ici que c'est ce patient : comparez les fiches ci-dessus, et ajoutez --yes
assign-question-again = En êtes-vous sûr ? Attribuer au patient numéro { $number } ?
assign-a-number = NUMÉRO
who-page = page d'état, navigateur { $browser }
assign-question = Attribuer au patient numéro { $number } ?
assign-question-anew = Il a été classé sous un autre numéro et sera classé de nouveau. Est-ce le patient qui a le numéro { $number } ?
assign-not-assigned = personne n'a attribué le courrier { $uuid }
assign-removed = { $uuid } : n'est plus attribué ; les courriers déjà classés restent où ils sont

## `docsyncd retry` et `poll`

retry-nothing = aucun nouvel essai
retry-moved = { $uuid } : nouvel essai, maintenant : { $state }
retry-due = { $uuid } : attendait ({ $state }), repris maintenant
retry-filed = { $uuid } : { $state } ; il est déjà là : docsyncd vérifie seulement si le logiciel l'a pris
retry-none-failed = aucun courrier n'est en échec : il n'y a rien à réessayer
retry-done = { $count ->
    [one] 1 courrier à réessayer
   *[other] { $count } courriers à réessayer
} ; { $when }
retry-question = { $count ->
    [one] Le courrier { $uuid } est déjà classé et confirmé au service. Le télécharger, le classer et le confirmer encore une fois ?
   *[other] { $count } courriers sont déjà classés et confirmés au service. Les télécharger, les classer et les confirmer encore une fois ?
} Un fichier qui est là avec le même contenu reste tel quel.
retry-nobody-asked = { $count ->
    [one] le courrier { $uuid } est déjà classé et confirmé au service, et il n'y a personne ici à qui demander s'il faut le classer
   *[other] { $count } courriers sont déjà classés et confirmés au service, et il n'y a personne ici à qui demander s'il faut les classer
} encore une fois : ajoutez --yes
retry-at-once = docsyncd s'en occupe tout de suite
retry-not-running = docsyncd est arrêté : cela reprend avec { $command } ou sync
retry-removed = { $uuid } : l'ancienne version n'y est plus
retry-arrived = { $uuid } : arrivé, compte comme classé ; { $when }
retry-not-arrived = pour le courrier { $uuid }, personne n'a à dire qu'il est arrivé : { $command } montre où il en est
retry-unclear = le courrier { $uuid } attend sa preuve, et une ancienne copie se trouve à côté : si l'ancienne copie n'y est plus, dites-le d'abord ({ $command })
retry-which = quels courriers ? Nommez-les ({ $command }), ou tous ceux qui sont en échec ({ $all })
retry-which-waiting = quels courriers ? Nommez-les ({ $command }) ; aucun n'est en échec, { $count ->
    [0] et aucun n'attend
    [one] 1 courrier attend :
   *[other] { $count } courriers attendent :
}
retry-which-failed = quels courriers ? Nommez-les ({ $command }), ou tous ceux qui sont en échec ({ $all })
    { $count ->
        [one] 1 courrier est
       *[other] { $count } courriers sont
    } en échec :
retry-all-of-them = { $command } les montre tous
retry-beside = En double, ancienne version ou copie chez un autre patient ; une fois l'ancienne copie supprimée, confirmez-le ({ $command }) :
retry-paused = { $scope } est en pause : { $why }. Nouvel essai tout seul, le prochain le { $next }
retry-by-themselves = Ils sont réessayés tout seuls ; un courrier nommé l'est tout de suite
retry-check = Lancez docsyncd check pour voir si cela fonctionne de nouveau
retry-check-or-sync = Lancez docsyncd check pour voir si cela fonctionne de nouveau ; docsyncd sync essaie tout de suite ce qui est en pause
poll-not-running = docsyncd est arrêté, donc personne ne regarde : démarrez-le ({ $start }), ou regardez une fois avec { $sync }
poll-no-answer = le programme qui utilise le registre n'a pas répondu en { $seconds } s (un docsyncd sync interroge de lui-même)
poll-done = docsyncd regarde maintenant, et réessaie tout de suite ce qui attend une destination ou un compte

forget-question = Effacer les noms et les emplacements conservés de { $which } ? Ils ne peuvent pas être retrouvés.
forget-nothing = rien n'est effacé
forget-done = { $uuid } : ses noms et ses emplacements sont effacés ; le fait qu'il a été classé et son empreinte restent
forget-open = { $uuid } est encore en cours ({ $state }) et garde ses noms jusqu'à la fin : { $command } dit où il en est
forget-traces = des traces des noms restent peut-être dans des parties inutilisées du registre, qui n'a pas pu être réécrit ({ $why }). Relancez la même commande plus tard.
forget-output = { $uuid } : ce qu'un programme a écrit à son sujet, dans le dossier `output` à côté du registre, ne peut pas être supprimé ({ $why }). Relancez la même commande plus tard.
service-no-systemd = ce système n'a pas été démarré par systemd, et docsyncd ne connaît pas d'autre gestionnaire de services ici. Faites lancer `docsyncd run` par le vôtre : il journalise sur la sortie d'erreur, relit sa configuration sur SIGHUP, et se termine avec 0 sur SIGTERM en 30 s, une fois fini ce qui est en cours
service-no-unit = il n'y a pas de { $unit } : les paquets deb et rpm de docsyncd l'apportent, avec son utilisateur et ses dossiers
service-installed-runs = { $unit } tourne, et démarre avec le système
service-installed = { $unit } démarre désormais avec le système ; tout de suite : docsyncd service start
service-uninstalled = { $unit } ne tourne pas, et ne démarre plus avec le système ; la configuration, le registre et les clés restent. Ce que le paquet a installé s'enlève avec le paquet
service-runs = { $unit } tourne
service-runs-not = { $unit } ne tourne pas
service-not-read = aucun service ne lit { $file } : docsyncd.service lit { $default }, et docsyncd@NOM.service lit { $folder }/NOM.toml, avec des lettres, des chiffres et _ . : - dans NOM
service-not-done = systemd ne l'a pas fait. Le journal du service dit pourquoi : journalctl -u { $unit } -n 20
service-only-root = seul root peut le faire : { $command }
service-windows-removed = le service est supprimé ; la configuration, le registre et les journaux restent
service-windows-none = il n'y avait pas de service
service-windows-runs = le service tourne
service-windows-runs-already = le service tourne déjà
service-windows-stopped = le service est arrêté
service-windows-runs-not = le service ne tourne pas
service-windows-missing = le service n'est pas installé : docsyncd service install
sync-runs = docsyncd tourne et s'en charge déjà : docsyncd poll le fait regarder maintenant ({ $file } est utilisé par un autre docsyncd)
sync-account = compte { $name } : { $why }
sync-done = classés à l'instant : { $now } ; en tout, classés : { $reported }, en échec : { $failed }, en attente : { $waiting }
sync-paused = { $scope } est en pause : { $why }
sync-unreadable = la liste montre des courriers sans identifiant utilisable ({ $count } sur une page) : demandez à l'éditeur du logiciel
sync-documents = courriers
## `docsyncd preview`

preview-not-filed = il ne serait pas classé
preview-not-read = ce qui attend pour le compte { $account } est illisible
preview-more = il y en a d'autres : { $command }
preview-there = (déjà là)
preview-taken = ce nom est pris ; sauf par ce courrier lui-même :
preview-accounts = { $count ->
    [one] le compte { $names }
   *[other] les comptes { $names }
}
preview-unknown = ce qui attend pour { $accounts } n'est pas connu
preview-nothing = rien n'attend
preview-nothing-for = rien n'attend pour { $accounts } ; { $unknown }
preview-at-least = au moins { "" }
preview-of-more = { $shown } courriers, sur plus de { $total } qui attendent
preview-all = { $least }{ $total ->
    [one] 1 courrier attend
   *[other] { $total } courriers attendent
}
preview-of = { $shown } sur { $least }{ $total } courriers qui attendent
preview-end = { $how_many }{ $unknown } ; rien n'a été classé ni confirmé

## `docsyncd reconcile`, `alerts test` et `open`

reconcile-letters = courriers
reconcile-not-compared = { $scope } n'a pas pu être comparé
reconcile-repaired = { $count ->
    [one] 1 courrier
   *[other] { $count } courriers
} à réparer ; { $when }
reconcile-of-destination = destination { $name } : { $what }
reconcile-of-account = compte { $name } : { $what }
reconcile-missing = classé, et il n'y est plus
reconcile-other-content = autre chose est à sa place ; rien n'est écrasé
reconcile-not-synchronized = confirmé, et le service le donne pour non synchronisé
reconcile-ended-at-api = encore en cours ici, et le service ne le montre plus
reconcile-more = et { $count } de plus
reconcile-agrees = tout concorde
reconcile-agrees-as-far = ce qui a pu être vu concorde
reconcile-differences = { $count ->
    [one] 1 différence
   *[other] { $count } différences
}
reconcile-looked-at = { $differing } ; vus sur place : { $count }
reconcile-not-taken = rien à comparer : { $count ->
    [one] { $count } courrier est déposé, pas encore pris
   *[other] { $count } courriers sont déposés, pas encore pris
}
reconcile-cannot = { "" }, impossibles à voir : { $count }
reconcile-new = { "" }, pas encore téléchargés : { $count }
reconcile-emptied = rien n'est reclassé dans { $destination } : les { $letters } courriers qui y ont été cherchés manquent tous. Le partage est-il connecté, le dossier a-t-il été déplacé ? S'ils ont vraiment disparu, reclassez-en un (`docsyncd retry UUID`), puis relancez ceci
reconcile-file-again = { $uuid } : à reclasser dans { $destination }
reconcile-report-again = { $uuid } : à confirmer encore au service
reconcile-open = { $count ->
    [one] 1 courrier
   *[other] { $count } courriers
} en cours ici : les prochaines interrogations en décident
reconcile-no-account = { $uuid } ne peut pas être reclassé : son compte { $account } n'est pas configuré
reconcile-not-given = { $uuid } ne peut pas être reclassé : le service ne le donne pas
reconcile-nobody-asked = rien n'est reclassé, car personne ne peut être interrogé ici : { $command }
reconcile-question = Reclasser { $count ->
    [one] 1 courrier ? Si le logiciel du cabinet l'a déjà pris, il y sera
   *[other] { $count } courriers ? Si le logiciel du cabinet les a déjà pris, ils y seront
} en double.
reconcile-left = le courrier { $uuid } reste tel quel : il est en route, ou sa confirmation n'est pas encore acceptée
alerts-nobody = personne n'est prévenu : [alerts] n'a ni heartbeat_url_file, ni webhook_url_file, ni [alerts.mail]
alerts-taken = a accepté le message (réponse { $code })
open-no-page = il n'y a pas de page d'état : écrivez [status_page] avec listen = "127.0.0.1:8977" dans la configuration
open-not-running = docsyncd est arrêté, et la page d'état avec lui : démarrez-le ({ $command })
open-not-served = docsyncd tourne, mais sans la page d'état : son port est peut-être occupé, ou la nouvelle configuration n'est pas encore lue. Le journal et { $command } disent pourquoi
open-not-encrypted = la page n'est servie que par le réseau et sans TLS, donc sans noms ni boutons : écrivez certificate_file et certificate_key_file dans [status_page], ou listen = "127.0.0.1:8977"
open-for-another = Ouvrez cette adresse dans un navigateur de l'autre ordinateur dans l'heure qui vient ; elle ne vaut qu'une fois. Ce navigateur est ensuite connu, tant qu'il sert au moins une fois tous les 90 jours :
open-for-another-tunnel = Les autres ordinateurs ne voient pas encore la page en entier : il faut à [status_page] certificate_file et certificate_key_file, ou public_url (docs/status-page.md). D'ici là, cette adresse vaut sur cet ordinateur et par ssh -L, une fois, dans l'heure qui vient :
open-no-screen = Il n'y a pas d'écran ici.
open-done = le navigateur ouvre { $page }
open-no-browser = aucun navigateur n'a pu être ouvert
open-address = Ouvrez cette adresse dans un navigateur de cet ordinateur dans les deux minutes ; elle ne vaut qu'une fois :

## `docsyncd login`, dans le terminal

sign-in-opens = Le navigateur s'ouvre pour connecter le compte { $name }. Sinon, ouvrez vous-même cette adresse :
sign-in-open = Ouvrez cette adresse dans un navigateur et connectez-vous comme utilisateur du compte { $name } :
sign-in-returns = Elle revient à { $address }, que l'exploitant doit avoir enregistré exactement ainsi.
sign-in-paste = 
    Si le navigateur est sur un autre ordinateur, il finit sur une adresse qu'il ne peut pas ouvrir : copiez toute
    cette adresse, collez-la ici et appuyez sur Entrée.
sign-in-done = le compte { $name } est connecté
sign-in-nameless = le service n'a pas dit de qui il s'agit
sign-in-no-name = un utilisateur sans nom
sign-in-as = connecté : { $person } (compte { $name })
sign-in-as-practice = connecté : { $person }, cabinet { $practice } (compte { $name })

sign-in-no-page = api.app_url n'est pas indiqué : c'est là que se trouve la page de connexion. Demandez-le à l'exploitant
sign-in-port-taken = le port { $port } de 127.0.0.1 (accounts.{ $name }.redirect_port) est inutilisable ({ $why }). Un autre programme s'en sert, peut-être un autre docsyncd login : arrêtez-le. Ou choisissez un autre port, et faites enregistrer l'adresse avec celui-ci par l'exploitant
sign-in-port-refused = le port { $port } de 127.0.0.1 (accounts.{ $name }.redirect_port) est inutilisable ({ $why }). Choisissez un autre port, et faites enregistrer l'adresse avec celui-ci par l'exploitant
sign-in-nobody = personne ne s'est connecté en { $patience } : rien n'a été modifié. Relancez docsyncd login
sign-in-interrupted = interrompu : rien n'a été modifié
sign-in-pasted-incomplete = ce n'est pas l'adresse : elle doit contenir code= et state= (ou error=). Copiez toute l'adresse dans le navigateur et collez-la de nouveau
sign-in-pasted-other = cette adresse appartient à une autre connexion. Ouvrez l'adresse ci-dessus, et collez celle sur laquelle le navigateur finit alors
sign-in-strangers = dix réponses sont arrivées qui n'appartiennent pas à cette connexion : un programme ou une page de cet ordinateur les invente, ou un ancien onglet se recharge. Les suivantes seront ignorées sans un mot. L'attente continue
sign-in-stranger = une réponse est arrivée qui n'appartient pas à cette connexion (autre state) : elle est ignorée. L'attente continue
sign-in-stranger-incomplete = une réponse est arrivée sans code ni error : elle est ignorée. L'attente continue
sign-in-another = avertissement : le compte { $name } était connecté en tant que { $before }. Les courriers de { $before } que docsyncd connaît restent tels quels ; désormais, ceux de { $email } sont téléchargés. Si c'est une erreur, relancez docsyncd login --account { $name } en tant que { $before }, et donnez à { $email } son propre compte
sign-in-not-remembered = avertissement : le nom de la personne connectée n'a pas pu être enregistré ({ $why })
sign-in-not-all-allowed = avertissement : tout n'a pas été autorisé : { $scopes }. Ce qui en a besoin échouera (HTTP 403) ; relancez docsyncd login --account { $name } et laissez tout coché
logout-failed = le compte { $name } n'a pas pu être déconnecté
logout-nothing = le compte { $name } n'était pas connecté : il n'y a rien à faire
logout-done = le compte { $name } est déconnecté : ses jetons sont supprimés de cet ordinateur, et un docsyncd en marche le met en pause.
    Ce qui est classé reste. docsyncd login --account { $name } le reconnecte.
## Les pages sur lesquelles `docsyncd login` se termine.

login-done = Vous êtes connecté
login-as = Connecté en tant que
login-done-do = docsyncd peut désormais classer vos courriers sur cet ordinateur.
login-close = Vous pouvez fermer cette fenêtre.
login-foreign = Ce n'est pas la connexion que docsyncd attend
login-foreign-do = Elle appartient à une tentative précédente, ou un autre programme l'a inventée. Rien n'a été modifié. Utilisez la dernière adresse affichée par docsyncd.
login-incomplete = Cette adresse n'appartient à aucune connexion
login-incomplete-do = Rien n'a été modifié. Utilisez la dernière adresse affichée par docsyncd.
login-used = Cette connexion a déjà été utilisée
login-used-do = Une réponse ne compte qu'une fois. Son résultat est affiché dans la fenêtre où docsyncd login a été lancé.
login-denied = L'accès a été refusé sur la page de connexion
login-denied-do = Si ce n'était pas voulu, relancez docsyncd login et autorisez l'accès.
login-invalid-request = Le serveur n'accepte pas la demande
login-invalid-request-do = Comparez client_id, scopes et l'adresse de retour avec ce que l'exploitant a enregistré.
login-unauthorized-client = Le serveur ne permet pas à cette application de connecter des personnes
login-unauthorized-client-do = Demandez à l'exploitant de l'autoriser pour le client_id de la configuration.
login-invalid-scope = Le serveur n'accorde pas l'une des autorisations demandées
login-invalid-scope-do = Comparez les scopes du compte dans la configuration avec ce que l'exploitant permet.
login-server-fault = Le serveur rencontre une panne
login-server-fault-do = Relancez docsyncd login dans quelques minutes.
login-other-refusal = Le serveur a refusé la connexion
login-other-refusal-do = Relancez docsyncd login ; si cela se reproduit, transmettez à l'exploitant les mots ci-dessous.
login-code-refused = Le serveur n'accepte plus cette connexion
login-code-refused-do = Elle est valable 60 secondes et une seule fois. Relancez docsyncd login.
login-client-refused = Le serveur n'accepte pas les identifiants de l'application
login-client-refused-do = Vérifiez client_id et client_secret_file dans la configuration, puis relancez docsyncd login.
login-unreachable = La connexion n'a pas pu être terminée auprès du serveur
login-unreachable-do = Vérifiez le réseau et api.base_url, puis relancez docsyncd login.
login-no-secret = Le secret de l'application ne peut pas être lu
login-no-secret-do = Corrigez client_secret_file, puis relancez docsyncd login.
login-not-saved = La connexion n'a pas pu être enregistrée sur cet ordinateur
login-not-saved-do = Corrigez ce qui est indiqué ci-dessous, puis relancez docsyncd login.

## docsyncd support

support-written = { $file } est écrit ({ $size } ko), pour la personne qui vous aide. Contenu, et ce qui manque :
support-names-nobody = Il ne nomme ni patient, ni fichier, ni dossier, ni ordinateur, ni personne. Regardez-le avant de l'envoyer.
support-kilobytes = { $size } ko
support-lacks-configuration = manque : la configuration est inutilisable (docsyncd check dit pourquoi)
support-lacks-not-running = manque : docsyncd est arrêté
support-lacks-no-page = manque : docsyncd tourne sans page d'état
support-lacks-no-answer = manque : la page d'état ne répond pas
support-lacks-no-ledger = manque : il n'y a pas encore de registre
support-lacks-no-right = manque : cet utilisateur n'a pas le droit de le lire ; lancez la commande en tant qu'administrateur
support-lacks-locked = manque : un autre programme bloque le registre
support-lacks-damaged = manque : le registre est endommagé
support-lacks-foreign = manque : le registre est d'une autre version ou d'un autre programme
support-lacks-unreadable = manque : illisible
support-lacks-late = manque : cela a duré trop longtemps
support-lacks-no-log = manque : il n'y a pas de fichier journal (log.file), et le journal du système n'a rien de docsyncd pour ce temps ; a-t-il écrit ailleurs ?
support-lacks-no-lines = manque : rien n'a été journalisé pendant ce temps
support-lacks-not-known = manque : l'un des courriers est inconnu
support-lacks-too-large = manque : trop grand

## `docsyncd backup`, `restore` et `move`

backup-written = { $file } écrit ({ $size }) : le registre tel qu'il était le { $time }, et la configuration
backup-letters = { $count ->
    [one] 1 courrier est dans le registre, avec le nom du patient : gardez ce fichier de sorte que personne d'autre ne puisse le lire
   *[other] { $count } courriers sont dans le registre, avec des noms de patients : gardez ce fichier de sorte que personne d'autre ne puisse le lire
}
backup-plain = Il n'est pas chiffré, il ne contient donc ni clé, ni mot de passe, ni connexion. Avec --passphrase-file, il les contient
backup-secrets = { $count ->
    [one] Chiffré, avec 1 clé, mot de passe ou connexion
   *[other] Chiffré, avec { $count } clés, mots de passe et connexions
}
backup-missing = Il ne contient pas :
restore-done = Restauré tel que c'était le { $time } : { $count ->
    [one] 1 courrier
   *[other] { $count } courriers
}, et la configuration { $config }
restore-aside = Ce qui était là auparavant est maintenant { $place }
restore-missing = Absent de la sauvegarde, à remettre en place ici :
restore-unseen = { $count ->
    [one] 1 courrier en cours sera peut-être classé une seconde fois, ou attendra une personne (on_lost_reply)
   *[other] { $count } courriers en cours seront peut-être classés une seconde fois, ou attendront une personne (on_lost_reply)
} : personne ne peut voir s'ils sont arrivés dans { $names }. Si rien n'a fonctionné après la sauvegarde, restaurez avec --nothing-since
restore-all-seen = Avant d'envoyer un courrier qui était en cours, docsyncd regarde s'il est déjà arrivé
restore-nothing-since = Rien n'a été classé après la sauvegarde, selon vous : les courriers en cours continuent comme avant
restore-start = Au démarrage, docsyncd lit d'abord toute la liste de chaque compte. Démarrer le service : { $command }
move-done = Le registre a déménagé : docsyncd ne travaille plus avec lui ici. Sur l'autre ordinateur : { $there }. Pour revenir en arrière : { $back }
move-undone = Le déménagement du { $time } est annulé. Un autre ordinateur a peut-être travaillé depuis : docsyncd ne doit plus y fonctionner. docsyncd regarde où est chaque courrier avant d'en envoyer un
backup-there = { $file } existe déjà, et rien n'a été écrit : choisissez un autre nom, ou --force le remplace
backup-no-file = { $file } n'est pas un fichier ordinaire et reste tel quel : choisissez un autre nom
backup-own = { $file } est un fichier avec lequel docsyncd travaille, et rien n'a été écrit : choisissez un autre nom
backup-not-written = { $file } ne peut pas être écrit, et il n'en reste rien
backup-left-out = avertissement : { $what } ne peut pas être lu et n'est donc pas dans la sauvegarde ({ $why })
restore-runs = docsyncd est en marche et travaille avec le registre { $file } ; rien n'a été modifié. Arrêtez-le d'abord : { $command }
restore-letters = le registre { $file } contient des courriers, et rien n'a été modifié : --force le met de côté et dit où
restore-there = { $file } existe déjà, et rien n'a été modifié : --force le met de côté et dit où
restore-configuration = la configuration de la sauvegarde est inutilisable ici, et rien n'a été modifié : { $what }
restore-newer = { $file } a été écrit par un docsyncd plus récent ({ $what }), et rien n'a été modifié : installez d'abord cette version
restore-unwritable = { $file } ne peut pas être écrit, et rien n'a été modifié
restore-unpacked = { $file } ne peut pas être extrait, et rien n'a été modifié : { $what }
restore-unreadable = { $file } ne peut pas être lu, et rien n'a été modifié : { $what }
restore-damaged = { $file } est endommagé ou incomplet ({ $what }), et rien n'a été modifié
restore-foreign = { $file } n'est pas une sauvegarde de docsyncd, et rien n'a été modifié
restore-encrypted = { $file } est chiffré, et rien n'a été modifié : indiquez le fichier qui contient la phrase secrète (--passphrase-file)
restore-passphrase = { $file } ne peut pas être déchiffré avec cette phrase secrète, et rien n'a été modifié
restore-no-age = { $file } est chiffré, et ce docsyncd a été construit sans chiffrement (la fonction age). Rien n'a été modifié
restore-place = { $file } ne peut pas être mis en place : relancez la même commande avec --force
restore-later = le registre sera mis en place au prochain démarrage
move-runs = docsyncd est en marche, et rien n'a été modifié : --stop arrête d'abord son service
move-not-stopped = docsyncd n'a pas pu être arrêté, et rien n'a été modifié
move-moved = le registre a déjà déménagé, le { $time }. Pour revenir en arrière : { $back }
move-not-moved = le registre n'a pas déménagé, il n'y a donc rien à annuler
support-not-written = { $file } ne peut pas être écrit (il n'en reste rien ; docsyncd support --print montre la même chose sans écrire de fichier)
