# Everything that docsyncd says to the people of a practice, in English. fr.ftl and de.ftl have the same keys with the same
# variables: a test holds that. "Letters" are all documents. Sentences begin with a capital; what stands inside of one does not.

## Times and numbers

month = { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
}
at-today = at { $time }
at-day = on { $day } { $month } at { $time }
at-year = on { $day } { $month } { $year } at { $time }
since-today = since { $time }
since-day = since { $day } { $month }, { $time }
since-year = since { $day } { $month } { $year }, { $time }
date = { $day } { $month } { $year }
letters = { $count ->
    [0] no letters
    [one] 1 letter
   *[other] { $count } letters
}
and-more = { $names } and { $more } more

## The first sentence

well-none = All is well: no letters today so far.
well-some = All is well: { $count ->
    [one] 1 letter today, { $last }.
   *[other] { $count } letters today, the last { $last }.
}
well-last = All is well: no letters today so far, the last { $last }.
well-open = { $count ->
    [one] 1 more is on its way.
   *[other] { $count } more are on their way.
}
not-running = docsyncd is not running: no letters are filed. Start the service.
not-running-last = docsyncd is not running: no letters are filed. The last one came { $last }. Start the service.
moved = The ledger moved to another computer { $at }: docsyncd files no letters here any more.
others = { $count ->
    [one] There is one more problem.
   *[other] There are { $count } more problems.
}
next-poll = docsyncd asks for new letters again { $at }.
next-poll-soon = docsyncd asks for new letters again { $seconds ->
    [0] at once.
    [one] in 1 second.
   *[other] in { $seconds } seconds.
}
sum = Instances: { $instances }. Letters today: { $today }. Waiting: { $waiting }. Failed: { $failed }.
light-well = All is well
light-waiting = Something waits
light-shut = No letters can be filed now
light-needs-person = A person is needed
light-not-running = Not running

## What is wrong. `why` completes "3 letters wait since 10:12: …", or stands alone; `do` says what to do; `over` that it is over.

waiting = { $count ->
    [one] 1 letter waits { $since }: { $why }.
   *[other] { $count } letters wait { $since }: { $why }.
}
waiting-none = { $since }: { $why }.
subject-waiting = { $count ->
    [one] 1 letter waits: { $why }
   *[other] { $count } letters wait: { $why }
}

why-ledger = docsyncd cannot write its ledger
do-ledger = Call your IT: docsyncd can save nothing on the disk that holds { $place }. It may be full or broken, or another program (a backup, an antivirus program) keeps the files of docsyncd open.
it-ledger = Free space on the disk that holds { $place }, check that the disk works, and end programs that keep the ledger open (backup, antivirus).
over-ledger = docsyncd can write its ledger again.

why-disk = docsyncd cannot keep downloaded letters on its disk
do-disk = Call your IT: the disk that holds { $place } is full or broken. When that is mended, press “{ page-mended }”.
it-disk = Free space on the disk that holds { $place }, and check that the disk works.
over-disk = docsyncd can keep downloaded letters on its disk again.

why-sign-in = { $names ->
    [one] the account { $name } has to sign in again
   *[other] { $names } accounts have to sign in again ({ $name })
}
do-sign-in = { $names ->
    [one] Call your IT: somebody has to sign in again for the account { $name }.
   *[other] Call your IT: somebody has to sign in again for each of these accounts ({ $name }).
}
it-sign-in = { $names ->
    [one] Run: docsyncd login --account { $name }
   *[other] Run for each of them: docsyncd login --account NAME
}
over-sign-in = { $names ->
    [one] The account { $name } is signed in again.
   *[other] { $names } accounts are signed in again ({ $name }).
}

why-api-key = { $names ->
    [one] the key of the account { $name } is refused or cannot be read
   *[other] the keys of { $names } accounts are refused or cannot be read ({ $name })
}
do-api-key = { $names ->
    [one] Call your IT: the account { $name } needs a new key.
   *[other] Call your IT: these accounts need new keys ({ $name }).
}
it-api-key = { $places ->
    [0] Put a valid key into the file that api_key_file names
   *[other] Put a valid key into { $place }
}, then run: docsyncd check
over-api-key = { $names ->
    [one] The key of the account { $name } works again.
   *[other] The keys of { $names } accounts work again ({ $name }).
}

why-not-allowed = { $names ->
    [one] the account { $name } lacks a right to read or to report letters
   *[other] { $names } accounts lack a right to read or to report letters ({ $name })
}
do-not-allowed = Call your IT: the operator of the service has to give a right that is missing.
it-not-allowed = Ask the operator of the service for the missing right, then run: docsyncd check
over-not-allowed = { $names ->
    [one] The account { $name } can go on again.
   *[other] { $names } accounts can go on again ({ $name }).
}

why-host-key = { $names ->
    [one] the server of the destination { $name } shows another host key than before
   *[other] the servers of { $names } destinations show other host keys than before ({ $name })
}
do-host-key = Call your IT: it may be another server than before. No letter goes there until somebody has checked that.
it-host-key = Ask whoever runs that server whether its key was changed. If not, somebody may be between: file nothing there. If it was, write the new fingerprint as `host_key`.
over-host-key = { $names ->
    [one] The server of the destination { $name } shows its known host key again.
   *[other] The servers of { $names } destinations show their known host keys again ({ $name }).
}

why-destination-sign-in = { $names ->
    [one] the destination { $name } refuses the user or password, or their file cannot be read
   *[other] { $names } destinations refuse the user or password, or their file cannot be read ({ $name })
}
do-destination-sign-in = Call your IT: the password there may have been changed. When that is mended, press “{ page-mended }”.
it-destination-sign-in = Correct user and password of the destination, or make their file readable, then run: docsyncd check
over-destination-sign-in = { $names ->
    [one] The destination { $name } accepts user and password again.
   *[other] { $names } destinations accept user and password again ({ $name }).
}

why-destination-full = { $names ->
    [one] the destination { $name } is full
   *[other] { $names } destinations are full ({ $name })
}
do-destination-full = { $places ->
    [0] Free space there
   *[other] Free space on the disk that holds { $place }
}, then press “{ page-mended }”. Nothing is lost: what waits is then filed.
it-destination-full = { $places ->
    [0] Free space there.
   *[other] Free space on the disk that holds { $place }.
} Nothing is lost: what waits is filed then.
over-destination-full = { $names ->
    [one] The destination { $name } has room again.
   *[other] { $names } destinations have room again ({ $name }).
}

problem-failed = { $count ->
    [one] 1 letter could not be filed ({ $since }).
   *[other] { $count } letters could not be filed ({ $since }).
}
do-failed = The page says why, below “{ page-failed-title }”. When that is mended, press “{ page-mended }”.
it-failed = See why: docsyncd list --state failed. When that is mended, try again: docsyncd retry --failed
subject-failed = { $count ->
    [one] 1 letter could not be filed
   *[other] { $count } letters could not be filed
}
over-failed = No letter is left that could not be filed.

problem-unreported = { $count ->
    [one] 1 letter is filed, but the service refused to hear it ({ $since }).
   *[other] { $count } letters are filed, but the service refused to hear it ({ $since }).
}
do-unreported = { $count ->
    [one] The letter is in its place: nothing is missing.
   *[other] The letters are in their places: nothing is missing.
} To tell the service again, press “{ page-mended }”.
it-unreported = See why: docsyncd list --state unreported. Then tell the service again: docsyncd retry --failed
subject-unreported = { $count ->
    [one] 1 letter is filed, but the service refuses the confirmation
   *[other] { $count } letters are filed, but the service refuses the confirmation
}
over-unreported = The service knows of every letter that is filed.

problem-unconfirmed = { $count ->
    [one] 1 letter may have arrived, and nobody can tell ({ $since }).
   *[other] { $count } letters may have arrived, and nobody can tell ({ $since }).
}
do-unconfirmed = { $count ->
    [one] Look in the practice's software whether it is there. Then open the letter on the page
   *[other] Look in the practice's software whether they are there. Then open each letter on the page
} and press “{ letter-arrived }” or “{ letter-send-again }”.
it-unconfirmed = Look whether it is there: docsyncd list --state fetched names it. If it is not, send it again: docsyncd retry UUID (if it is: docsyncd retry --arrived UUID)
subject-unconfirmed = { $count ->
    [one] 1 letter waits: did it arrive?
   *[other] { $count } letters wait: did they arrive?
}
over-unconfirmed = It is clear whether every letter arrived.

problem-patient-unknown = { $count ->
    [one] It is not clear which patient 1 letter is about ({ $since }).
   *[other] It is not clear which patients { $count } letters are about ({ $since }).
}
do-patient-unknown = Compare the patients on the page, below “{ page-patients-title }”, and press “{ page-assign }”. If the patient is added to the list, docsyncd finds it by itself.
it-patient-unknown = docsyncd list --state fetched names them; docsyncd assign UUID shows who it may be, and docsyncd assign UUID NUMBER settles it. If the patient is added to the list, the letter is filed by itself.
subject-patient-unknown = { $count ->
    [one] 1 letter waits: which patient?
   *[other] { $count } letters wait: which patient?
}
over-patient-unknown = It is clear which patient every letter is about.

why-patients-file = { $count ->
    [0] the practice's list of patients cannot be used ({ $reason })
    [one] the practice's list of patients does not have the patient of 1 letter that waits
   *[other] the practice's list of patients has none of the patients of { $count } letters that wait
}
do-patients-file = { $count ->
    [0] Have the list exported again from the practice's software. { $goes ->
        [0] Until then letters that need a patient's number wait; the others are filed.
       *[other] Until then docsyncd uses the previous list: only letters of patients who came later wait.
    }
   *[other] Compare names and dates of birth on the page: it may be another practice's list, or the dates may be a day off. Have it exported again; what waits is then filed.
}
it-patients-file = { $count ->
    [0] docsyncd check says what is wrong with it ({ $reason }). { $goes ->
        [0] There is no previous list: letters that need a patient's number wait.
       *[other] Until it is mended, or docsyncd is started again, the previous list counts.
    }
   *[other] Compare names and dates of birth in the list with docsyncd assign UUID: it may be another practice's list, or dates may be a day off. Export it again; what waits is then filed.
}
over-patients-file = The practice's list of patients can be used again.
list-wrong-missing = its file is not there
list-wrong-unreadable = docsyncd may not read its file
list-wrong-away = its file does not answer
list-wrong-written = it may not be whole: the export has not ended
list-wrong-short = it is empty, or much shorter than before
list-wrong-strange = the numbers of the letters filed so far are not in it
list-wrong-workbook = it is a workbook of Excel, and no CSV
list-wrong-columns = its first line does not name the columns that are needed
list-wrong-letters = row { $row }: letters cannot be read
list-wrong-row = row { $row }: it does not fit the columns
list-wrong-number = row { $row }: the patient's number is spoilt
list-wrong-date = row { $row }: the date of birth cannot be read
list-wrong-two-ways = row { $row }: the date can be read in two ways, day or month first
list-wrong-content = it cannot be read

problem-not-taken = { $count ->
    [one] 1 letter was filed, and the software that reads { $name } has not taken it ({ $since }).
   *[other] { $count } letters were filed, and the software that reads { $name } has not taken them ({ $since }).
}
do-not-taken = See whether the practice's software runs and imports. { $count ->
    [one] If the letter is already in the record
   *[other] If a letter is already in the record
}, open it on the page and press “{ letter-arrived }”.
it-not-taken = See whether the practice's software runs and imports. docsyncd list --state fetched names them; if one is in the record, say so: docsyncd retry --arrived UUID
subject-not-taken = { $count ->
    [one] 1 letter is filed, not yet taken by the software that reads { $name }
   *[other] { $count } letters are filed, not yet taken by the software that reads { $name }
}
over-not-taken = The software has taken every letter at { $name }.

problem-not-replaced = { $count ->
    [one] 1 letter lies in the practice's software twice ({ $since }): an old version beside the new one, or a copy in another patient's record.
   *[other] { $count } letters lie in the practice's software twice ({ $since }): an old version beside the new one, or a copy in another patient's record.
}
do-not-replaced = Open the letter on the page, below “{ page-beside-title }”: it says where the old copy lies. Remove it in the practice's software, then press there “{ letter-removed }” or “{ letter-removed-anothers }”.
it-not-replaced = docsyncd retry names the letters, docsyncd show UUID says where the old copy lies. Remove it there, then say so: docsyncd retry --removed UUID.
subject-not-replaced = { $count ->
    [one] 1 letter lies there twice: remove the old copy
   *[other] { $count } letters lie there twice: remove the old copies
}
over-not-replaced = No old copy of a letter is left beside a new one.

problem-not-agreeing = { $count ->
    [one] The service, docsyncd and the destination disagree about 1 letter ({ $since }).
   *[other] The service, docsyncd and the destinations disagree about letters: { $count } differences ({ $since }).
}
do-not-agreeing = Call your IT: each difference is to be looked at. docsyncd files no letter again by itself.
it-not-agreeing = docsyncd reconcile says which letters and what differs; docsyncd reconcile --repair does what is safe, and asks before it files anything again.
subject-not-agreeing = { $count ->
    [one] 1 difference between the service and the practice
   *[other] { $count } differences between the service and the practice
}
over-not-agreeing = The service, docsyncd and the destinations agree about every letter.

why-silence = { $names ->
    [one] docsyncd could not ask for new letters of the account { $name }
   *[other] docsyncd could not ask for new letters of { $names } accounts ({ $name })
}
do-silence = Check the internet connection of this computer. If it works, call your IT.
it-silence = Check the internet connection of this computer, then run: docsyncd check
over-silence = { $names ->
    [one] docsyncd asks for new letters of the account { $name } again.
   *[other] docsyncd asks for new letters of { $names } accounts again ({ $name }).
}

why-slept = this computer slept or was off, so no letters were filed
do-slept = Let the computer stay on, also over night: switch its energy saving off.
over-slept = docsyncd asks for new letters again.

why-destination-program = { $names ->
    [one] the program of the destination { $name } is missing or cannot be started
   *[other] the programs of { $names } destinations are missing or cannot be started ({ $name })
}
do-destination-program = Call your IT: the program that passes the letters on is missing or does not start.
it-destination-program = Run: docsyncd check. It names the program and what is wrong. Install it there, or correct `program`.
over-destination-program = { $names ->
    [one] The program of the destination { $name } can be started again.
   *[other] The programs of { $names } destinations can be started again ({ $name }).
}

why-destination = { $names ->
    [one] the destination { $name } cannot be reached
   *[other] { $names } destinations cannot be reached ({ $name })
}{ $count ->
    [0] , so no letter can be filed there
   *[other] { "" }
}
do-destination = Check that the computer with the folder is switched on, and that the folder can be opened. Then press “{ page-mended }”.
it-destination = Check that its computer runs and that the folder is there, then run: docsyncd check
over-destination = { $names ->
    [one] The destination { $name } can be reached again.
   *[other] { $names } destinations can be reached again ({ $name }).
}

why-destination-refuses = { $names ->
    [one] the destination { $name } takes no letters
   *[other] { $names } destinations take no letters ({ $name })
}
do-destination-refuses = The page says why, below “{ page-places }”. If you cannot mend that, call your IT. Then press “{ page-mended }”.
it-destination-refuses = { see-status } Then run: docsyncd check
over-destination-refuses = { $names ->
    [one] The destination { $name } takes letters again.
   *[other] { $names } destinations take letters again ({ $name }).
}

why-service = { $names ->
    [one] the service cannot be reached for the account { $name }, or does not work
   *[other] the service cannot be reached for { $names } accounts, or does not work ({ $name })
}
do-service = Check the internet connection of this computer. If it works, the service has a fault: it is asked again and again.
over-service = { $names ->
    [one] The service works again for the account { $name }.
   *[other] The service works again for { $names } accounts ({ $name }).
}

why-service-busy = { $names ->
    [one] the service asks the account { $name } to wait
   *[other] the service asks { $names } accounts to wait ({ $name })
}
do-service-busy = Wait: docsyncd goes on by itself as soon as it may. If it stays so for hours, ask the operator of the service why.
over-service-busy = { $names ->
    [one] The service answers the account { $name } again.
   *[other] The service answers { $names } accounts again ({ $name }).
}

why-downloads = { $names ->
    [one] the service gives no proper PDFs for the account { $name }
   *[other] the service gives no proper PDFs for { $names } accounts ({ $name })
}
do-downloads = If it stays so for an hour, call your IT: something between this computer and the service may be in the way.
it-downloads = { see-status } A proxy or a firewall may be in the way; else ask the operator of the service.
over-downloads = { $names ->
    [one] The service gives PDFs for the account { $name } again.
   *[other] The service gives PDFs for { $names } accounts again ({ $name }).
}

why-reports = { $names ->
    [one] the service takes no reports from the account { $name }
   *[other] the service takes no reports from { $names } accounts ({ $name })
}
do-reports = The letters are in their places: nothing is missing. If it stays so for a day, call your IT.
it-reports = The letters are filed. { see-status } If it stays so, ask the operator of the service.
over-reports = { $names ->
    [one] The service takes reports from the account { $name } again.
   *[other] The service takes reports from { $names } accounts again ({ $name }).
}

why-stalled-delivery = { $names ->
    [one] the destination { $name } takes other letters
   *[other] { $names } destinations take other letters ({ $name })
}, but not yet { $count ->
    [one] this one
   *[other] these
}
do-stalled-delivery = docsyncd tries again by itself. The page says why, below “{ page-waiting-title }”.
it-stalled-delivery = See why: docsyncd list. They are tried again and again.
over-stalled-delivery = { $names ->
    [one] No letter waits for the destination { $name } any more.
   *[other] No letter waits for { $names } destinations any more ({ $name }).
}

why-stalled = the service does not yet give { $count ->
    [one] it
   *[other] them
}, or take the confirmation ({ $names ->
    [one] account { $name }
   *[other] { $names } accounts: { $name }
})
do-stalled = docsyncd tries again by itself. The page says why, below “{ page-waiting-title }”.
it-stalled = See why: docsyncd list. They are tried again and again.
over-stalled = { $names ->
    [one] No letter of the account { $name } waits any more.
   *[other] No letter of { $names } accounts waits any more ({ $name }).
}

problem-not-configured = { $count ->
    [one] 1 letter waits for an account that is not configured any more ({ $name }).
   *[other] { $count } letters wait for an account that is not configured any more ({ $name }).
}
do-not-configured = Call your IT: the account has to be set up again, or somebody has to sign in who sees these letters.
it-not-configured = Put the account back into the configuration, or sign in as somebody who sees these letters.
subject-not-configured = { $count ->
    [one] 1 letter waits for an account that is not set up any more ({ $name })
   *[other] { $count } letters wait for an account that is not set up any more ({ $name })
}
over-not-configured = No letter waits for an account that is not configured ({ $name }).

why-configuration = the configuration cannot be used ({ $name })
do-configuration = Call your IT: there is a mistake in the settings. Until it is mended, letters are filed by the previous settings.
it-configuration = Correct it: docsyncd check says what is wrong. Until then a running docsyncd files letters with the previous configuration.
subject-configuration = There is a mistake in the settings
mistake-line = line { $number }
mistake-column = column { $number }
mistake-other = IT sees which
mistake-no-field = { $place }: there is no field { $name }
mistake-no-key = { $place }: there is no setting { $name }
mistake-meant = { $what }, perhaps { $meant } is meant
mistake-exact = In English: { $what }.
over-configuration = The configuration can be used again, and is in force.

why-clock = the clock of this computer and that of the service differ by more than five minutes
do-clock = Set the clock of this computer, and let it be set by a time server. Sign-ins and times in the record may be wrong until then.
over-clock = The clock of this computer is right again.

why-certificate = browsers do not trust the certificate of the status page, or soon will not
do-certificate = Call your IT: the certificate of this page has to be renewed. Letters are filed all the same.
it-certificate = docsyncd check says what is wrong with certificate_file: renew it, or correct it. docsyncd reads it within a minute.
subject-certificate = The certificate of the status page has to be renewed
over-certificate = The certificate of the status page is good again.

problem-quiet = { $count ->
    [0] docsyncd has found no letter { $since }.
   *[other] docsyncd has found no letter { $since }; usually { $count } a day.
}
do-quiet = Ask in the practice whether letters were written since then. If so, call your IT: the account may be the wrong one, or the service shows it none. If the practice was closed, there is nothing to do.
it-quiet = See what the account is shown: docsyncd check. Days on which the practice is closed belong in [practice] closed; alerts.quiet_after = "off" ends these messages.
subject-quiet = { $count ->
    [0] No letters come any more
   *[other] No letters come any more, usually { $count } a day
}
over-quiet = Letters come again.

## `docsyncd status --health`, for monitors. The text is the end of a line, without a full stop.

health-more = and { $count } more
health-silent = docsyncd's files do not answer within a second: does the disk or the share work?
health-locked = another program keeps the ledger locked (a backup, an antivirus program, a viewer?)
health-damaged = the ledger cannot be read: it is damaged
health-foreign = the ledger cannot be read: it is of another version, or of another program
health-no-right = the ledger cannot be read: this user may not, or its disk is away
health-unreadable = the ledger cannot be read: its disk gives errors
health-not-configured = not configured: { $what }
health-no-right-configuration = the configuration cannot be read: this user may not
health-no-configuration = there is no configuration
health-no-key = no account has its key or its sign-in yet
health-configuration = the configuration cannot be used (docsyncd check says why)
health-defect = docsyncd itself failed while it looked: please report this

## Alarms

alarm-subject-reminder = Still: { $subject }
alarm-subject-over = Solved: { $over }
alarm-subject-all-well = All is well again: { $over }
alarm-subject-test = docsyncd: a test
alarm-of-practice = { $subject } ({ $practice })
alarm-reminder = Still so: { $problem }
alarm-over = { $over } It began { $began }.
alarm-all-well = All is well again.
alarm-left = Still open: { $what }
alarm-do = What to do: { $advice }
alarm-page-at = The page: { $address }
alarm-page-menu = The page: on the computer { $computer }, in the Start menu: docsyncd
alarm-page-command = The page: on the computer { $computer }, with the command: docsyncd open
alarm-page-off = docsyncd has no page here: the commands below do the same.
see-status = See why: docsyncd status.
alarm-it = For IT, on { $computer }: { $commands }
alarm-it-file = { $it } (Each of these commands needs: --config { $file })
alarm-test = This is a test. You will get the messages of docsyncd here. There is nothing to do.

## The table of `docsyncd status`, for whoever looks after the installation. What has no variables is a label.

table-no-ledger = not running; nothing was synchronized so far: there is no ledger at { $path }
table-running = running
table-running-as = version { $version }, process { $process }, since { $since }
table-not-running = NOT RUNNING
table-last-success = last success
table-reported = reported
table-waiting = waiting
table-waiting-for = { $waiting } ({ $fetch } to fetch, { $deliver } to deliver, { $report } to report)
table-failed = failed
table-uncertain = UNCERTAIN
table-uncertain-how = { $count } may have arrived: look there ({ $list } names them); { $retry } sends one again
table-person = NEEDS A PERSON
table-person-how = { $count ->
    [one] { $count }: it is not clear which patient it is about
   *[other] { $count }: it is not clear which patient they are about
} ({ $command })
table-to-confirm = to confirm
table-to-confirm-how = { $count } filed, not yet taken by the practice's software ({ $command })
table-withdrawn = withdrawn
table-account = account
table-polled = { $name }: last polled { $at }
table-poll-failed = LAST POLL FAILED: { $why }
table-not-configured = NOT CONFIGURED: { $count ->
    [one] 1 document waits
   *[other] { $count } documents wait
} for it. The account that lists them takes them over at its next poll; if none does, put [accounts.{ $name }] back
table-sign-in = sign-in
table-sign-in-problem = SIGN-IN
table-sign-in-why = { $name }: { $why }
table-signed-in-as = { $name }: signed in as { $user }
table-signed-in = { $name }: signed in
table-by-key = { $name }: by API key
table-paused = PAUSED
table-paused-why = { $scope } since { $since }, tried again { $next }: { $why }
table-paused-since = { $scope } since { $since }, tried again { $next }
table-scope-account = account:{ $name }
table-scope-fetch = fetch:{ $name }
table-scope-report = report:{ $name }
table-scope-destination = destination:{ $name }
table-ledger = ledger

## The status page

page-open-well = All is well
page-open-waiting = Letters wait; they may go on by themselves
page-open-needs-person = Something needs a person
page-open-not-running = docsyncd is not running
page-as-of = As of
page-refresh = Refresh
page-silent-title = docsyncd does not answer.
page-silent = The page shows how it was at the time that it names. It renews itself as soon as docsyncd answers. If that takes long, call your IT: the service has to be started.
page-language = Language
language = English
page-today = filed today
page-today-taken = filed and taken today
page-waiting = waiting
page-tile-not-taken = { page-not-taken }
page-failed = failed
page-locked = Names and buttons are locked
page-locked-how = To see the letters and what to do, run “docsyncd open” on this computer as an administrator. The browser then keeps the key for as long as it is used once a month.
page-locked-elsewhere = To see the letters here, this browser needs a link. It comes from “{ page-another }” in a browser that sees them, or from “docsyncd open --for-another”, which an administrator runs on the computer with docsyncd.
page-locked-not-encrypted = On this computer the page shows no names and no buttons, as the connection is not encrypted. Whoever looks after the computers can change that, with a certificate for the page.
page-accounts-work = Accounts that work: { $works } of { $all }.
page-destinations-work = Destinations that work: { $works } of { $all }.
page-problems = What is wrong, and what to do
page-failed-title = Could not be filed
page-retry = Try again
page-retry-all = Try all again
page-mended = It is mended, try again
page-patients-title = Which patient is this letter about?
page-patients-how = The first row is the patient as the service has it. The others are patients of the practice's list who may be meant. What differs is marked.
page-patients-no-list = The practice's list of patients cannot be read yet.
page-patients-others = and { $count ->
    [one] 1 more letter
   *[other] { $count } more letters
} about the same patient
page-patients-changed = It was assigned before, and a name or a date of birth has changed since then.
page-patients-nobody = Nobody in the list has a similar name. If the patient is still to be added there, wait; otherwise type the number.
page-patients-type = Patient's number
page-patients-look = Compare
page-patients-alike = Several are alike in name and date of birth: the list itself cannot tell them apart. Compare what else it says of them.
page-patients-no-number = This is no number that can be given.
page-patients-shared = The list has two persons under this number.
page-patients-unnamed = The service does not say which patient this letter is about.
page-patients-differs = differs
page-patients-where = Where
page-patients-cloud = Cloud service
page-patients-list = Practice's list
page-patients-number = Number
page-patients-more = There are more of them: settle these first.
page-last-name = Last name
page-first-name = First name
page-born = Born
page-assign = Assign to this patient
page-undo = Undo
page-decided = Assigned to the patient with the number { $number } ({ $patient }), also for letters to come. It is filed in a moment; until then you can undo it.
page-look-title = Please look once more
page-look-differs = The service and the practice disagree about this patient: what differs is marked.
page-look-spelling = The name is spelt differently on the two sides.
page-look-anothers = Letters of another patient of the service already go to the number { $number }.
page-look-another = In the practice's list another patient has the number { $number }.
page-look-twin = Practice's list, another patient
page-look-not-listed = The number { $number } is not in the practice's list. Is the patient new?
page-look-yes = Yes, assign to number { $number }
page-look-no = No, go back
page-look-filed = This letter is filed under the number { $number }.
page-misfiled-how = Under another number it is filed anew. The copy in the wrong record stays there until somebody removes it: the letter's page then says where it lies.
page-waiting-title = Waiting
page-uncertain-title = May have arrived: please look
page-beside-title = There twice: remove the old copy
page-not-taken-title = Filed, not yet taken ({ $count })
page-today-title = Filed today
page-today-none = No letter was filed{ $waits ->
    [0] { "" }
   *[other] { " " }and taken
} today so far.
page-poll = Look for new letters now
page-decisions = Which patient: decided in the last 30 days
page-decisions-count = { $count ->
    [one] Show 1 decision
   *[other] Show { $count } decisions
}
page-decisions-how = Was one wrong? Open the letter, and press “{ page-undo }”; if it is filed already: “{ letter-misfiled }”.
page-decisions-more = There are more: the history of each letter has its own.
page-who = Who
page-who-browser = this page, browser { $browser }
page-taken-back = taken back
page-places = Accounts and destinations
page-accounts = Accounts
page-destinations = Destinations
page-works = works
page-paused = paused
page-asked-account = · last asked { $at }
page-asked-destination = · seen to work { $at }
page-next = Next try { $at }.
page-why-there = See { $name } below.
page-fold = Show { $count } more
page-days = The last 30 days
page-days-summary = { $count ->
    [0] No letter was filed{ $waits ->
        [0] { "" }
       *[other] { " " }and taken
    } in the last 30 days
    [one] 1 letter was filed in the last 30 days
   *[other] { $count } letters were filed in the last 30 days
}{ $failed ->
    [0] .
    [one] , and 1 failed (red).
   *[other] , and { $failed } failed (red).
}
page-days-table = The numbers as a table
page-day = Day
page-day-well = letters filed, all well
page-day-trouble = something failed, or could not be filed
page-day-person = a person was needed
page-day-silent = no letters
page-day-numbers = { $date }: { $filed } filed, { $failed } failed
page-strip = { $well ->
    [one] 1 day was well,
   *[other] { $well } days were well,
} { $trouble ->
    [one] 1 had trouble,
   *[other] { $trouble } had trouble,
} { $person ->
    [one] 1 needed a person,
   *[other] { $person } needed a person,
} { $silent ->
    [one] 1 had no letters.
   *[other] { $silent } had no letters.
}
page-filed = Filed
page-time = Time
page-since = Waits since
page-patient = Patient
page-type = Type
page-place = Where it lies
page-why = Why
page-state = State
page-action = Action
page-no-type = no type
page-no-place = not kept
page-not-taken = filed, not yet taken
page-not-replaced = filed beside the old version
page-for-another = still there for another patient: remove it
proof-durable = the file is on the disk
proof-accepted = it was accepted there
proof-read-back = it was read back and compared
proof-taken = taken by the practice's software
proof-moved = moved by the practice's software
proof-sidecar = confirmed by the practice's software
proof-probe = shown by the service there
proof-query = found there
proof-person = seen there by a person
page-no-name = no name, number …{ $number }
page-waits-new = It is being fetched.
page-waits-service = It is still to be fetched from the service.
page-waits-destination = It is still to be filed.
page-waits-taken = It is filed, not yet taken by the practice's software.
page-waits-report = It is filed; the service is still to be told.
page-not-filed = It could not be filed.
page-unreported = It is filed, but the service refuses the confirmation.
page-more = There are more of them. The search shows all.
page-search = Find a letter
page-search-words = Patient, file name or number
page-search-day = Received on
page-search-any = any
page-search-go = Search
page-search-no-names = Names are not kept, so only numbers of letters are found.
page-search-empty = Write a name, or choose a day or a type.
page-search-none = No letter is found. Try only the first letters of the name.
page-search-found = { $count ->
    [one] 1 letter is found.
   *[other] { $count } letters are found.
}
page-search-newest = { $count ->
    [0] No letter is found among the newest
    [one] 1 letter is found among the newest
   *[other] { $count } letters are found among the newest
}: all these words are in very many letters. Write a name, or choose a day.
page-more-found = There are more: write more of the name, or choose a day.
page-close = Lock this browser
page-close-first = To unlock it again, an administrator has to run “docsyncd open” on the computer with docsyncd.
page-contact = Whom to call: { $contact }
page-support = File for support
page-it = For IT: { $what }
page-notice-retried = The letter is tried again. The page shows what becomes of it.
page-notice-retried-all = Everything that failed is tried again. The page shows what becomes of it.
page-notice-polled = docsyncd looks for new letters now.
page-notice-closed = This browser is locked: it shows no names any more.
page-notice-locked = That browser is locked: it shows no names any more.
page-notice-assigned-others = Letters of this patient that were filed before lie under another number. Find them by the patient's name, open each of them and choose its patient there, too.
page-notice-filed-anew = The letter is filed anew under the right number. Remove the copy in the wrong record: this page says where it lies. If other letters of this patient went out under the wrong number, open each of them and choose its patient there, too.
page-notice-same-number = Nothing was changed: the letter is filed under this number already.
page-notice-not-read = Nothing was changed: the service does not say now which patient this letter is about. Try again in a few minutes.
page-notice-unknown = The letter has changed since the page showed it, so nothing was done. Look again.
page-notice-not-assigned = Nothing was changed: the letter no longer waits for this, or the list or the patient has changed since the page showed it. Look again.
page-notice-shared-number = Nothing was changed: the list has two persons under this number. Correct the list first.
page-notice-no-number = Nothing was changed: type a number.
page-notice-undone = It is undone: the letter waits again.
page-notice-not-undone = It cannot be undone any more: a letter of this patient is filed by it, or is being filed.
page-notice-arrived = It is recorded that the letter is there.
page-notice-mended = It works again: what waited goes on.
page-notice-not-mended = It was tried again and still does not work. The reason is below, under “{ page-places }”.
page-notice-trying = It is being tried again. The page shows what becomes of it.
page-back = To the status page
page-letter-locked = This browser may not see this letter
page-letter-locked-do = An administrator runs “docsyncd open” on the computer with docsyncd, or another browser makes a link (“{ page-another }”). Then open the letter again.
page-no-letter = docsyncd does not know this letter
page-no-letter-do = Its number may be wrong, or it comes from another installation.
page-pdf-changed = This is not the file that docsyncd filed
page-pdf-changed-do = Something else lies at its place now: somebody changed or replaced it. docsyncd shows only what it filed itself. Look there with the practice's software.
page-pdf-gone = The PDF does not lie on this computer
page-pdf-gone-do = It was taken from its folder, or its destination is not a folder of this computer. The letter's page says where it went.
page-pdf-unknown = The folder with the PDF does not answer
page-pdf-unknown-do = Try again in a moment. If it stays so, check that its computer or share can be reached.
page-pdf-not-fetched = The service does not give the PDF now
page-pdf-not-fetched-do = Try again in a moment. If it stays so, see on the status page whether the service works.
page-nothing = There is nothing at this address
page-nothing-do = The status page is at the address that “docsyncd open --print” shows.
page-opened = This browser may now see the letters
page-opened-do = It keeps the key for as long as it is used once a month. “Lock this browser” on the page takes it away.
page-opened-elsewhere = This browser may now see the letters
page-opened-elsewhere-do = It keeps the key for 90 days. “Lock this browser” on the page takes it away.
page-not-encrypted = This connection is not encrypted
page-not-encrypted-do = The letters are not shown here. Open the page at its address with https://. If it has none, whoever looks after the computers can give it a certificate.
page-another = For one more computer
page-another-how = Open this address in a browser of the other computer within an hour. That browser then sees the letters for 90 days.
page-another-tunnel = Other computers do not reach this page. Whoever looks after the computers can change that, with a certificate for the page. Until then this address opens it in another browser of this computer, or through a tunnel (ssh -L), within an hour.
page-another-once = It counts once. Whoever opens it sees the letters: give it only to the person whom it is for. The status page takes it away again.
page-browsers = { $count } browsers see the letters
page-browser = Browser
page-browser-this = this one
page-browser-known = since { $since }, until { $until } if it is not used
page-browser-until = since { $since }, until { $until }
page-browser-lock = Lock
page-used = This link is no longer valid
page-used-do = A link can be used once, within two minutes, and one for another computer within an hour. Make a new one. If somebody else used it, lock that browser.
page-foreign = This was not sent from the status page
page-foreign-do = Nothing was changed. Open the page again and repeat what you did; if the key has run out, run “docsyncd open”.
page-too-large = That is too long
page-too-large-do = Nothing was changed. Write less.
page-trouble = docsyncd cannot read its ledger just now
page-trouble-do = Try again in a moment. If it stays so, call your IT: “docsyncd status” and the log say why.

type-operative-report = Operative report
type-referral-letter = Referral letter
type-cone-beam-report = Cone beam report
type-patient-letter = Letter to the patient
type-prescription = Prescription
type-initial-medical-certificate = Initial medical certificate
type-attendance-certificate = Certificate of attendance
type-contraindication-certificate = Certificate of contraindication
type-lab-slip = Laboratory slip
type-endo-report = Endodontic report
type-ortho-letter = Orthodontic letter

state-discovered = to be fetched
state-fetched = to be filed
state-filed = { page-not-taken }
state-delivered = filed, to be reported
state-failing = failed
state-reported = filed
state-failed = failed
state-unreported = filed, confirmation refused
state-withdrawn = withdrawn by the service

## The page of one letter

page-number = Number
page-account = Account
letter-pdf = Open the PDF
letter-fetch = Fetch the PDF from the service
letter-pdf-gone = The PDF does not lie on this computer: below is where it was filed.
letter-pdf-changed = Something else lies where the PDF was filed: it was changed or replaced.
letter-try-now = Try now
letter-arrived = It is there
letter-removed = The old version is removed
letter-removed-anothers = The other patient's copy is removed
letter-misfiled = Filed in the wrong patient's record?
letter-send-again = It is not there: send again
letter-uncertain = It may have arrived, and nobody can tell.
letter-uncertain-how = Look there first: whether it arrived decides which button is right.
letter-filed = It is filed, and confirmed to the service.
letter-withdrawn = The service has withdrawn it.
letter-nowhere = It is nowhere yet.
letter-may-have-arrived = may have arrived
letter-there = filed
letter-to-come = to be filed
letter-older-version = an older version
letter-for-another = filed for another patient
letter-was-removed = filed for another patient, and removed since
letter-copy = Copy
letter-copied = Copied
letter-proof = Seen { $at }:
letter-history = What happened
letter-history-removed = What is older was removed (state.keep_history).
letter-times = ({ $count } times)
letter-by = by { $who }
letter-decision = Number { $number }, { $listed }; by { $who }
letter-listed = in the practice's list
letter-not-listed = not in the practice's list
letter-more = Details
letter-created = Created
letter-found = Found
letter-size = Size
letter-kilobytes = { $size } KB

event-discovered = Found in the service's list
event-fetched = Downloaded
event-delivered = Filed at { $name }
event-filed = Filed at { $name }, not yet taken
event-failed = Could not be filed{ $places ->
    [0] { "" }
   *[other] { " " }at { $name }
}
event-all-delivered = Filed everywhere; the service is told
event-refused = Given up; the service is told
event-report-accepted = Confirmed to the service
event-report-refused = The service refused the confirmation
event-gone = The service does not show it any more
event-start-over = Begun anew
event-relisted = Asked for again in the service
event-revised = A new version came
event-retry-requested = A person asked to try it again
event-retracted = Taken up again
event-postponed = Did not work{ $places ->
    [0] { "" }
   *[other] { " " }at { $name }
}; it is tried again
event-waiting = Waits
event-unconfirmed = May have arrived at { $name }
event-not-replaced = Filed at { $name } beside the old version
event-filed-for-another = The copy at { $name } was for another patient
event-needs-person = Waits: which patient?
event-assigned = Assigned to a patient
event-unassigned = The assignment was undone
event-taken-over = Another account goes on with it
event-forgotten = Its names were erased

## What `docsyncd list`, `find` and `show` say. Columns and labels are words within a line: the first letter is made small, but in German.

column-when = when
column-destination = destination
column-document = document
column-reason = reason
column-reason-or-file = reason or file
column-exact = exact reason
column-attempts = attempts
column-next = next attempt
state-delivered-short = to be reported
state-unreported-short = not reported
state-withdrawn-short = withdrawn
list-none = no documents
list-no-ledger = there is no ledger yet at { $path }
not-known = no document { $text } is known{ $least ->
    [0] { "" }
   *[other] { " " }(a part of a uuid has { $least } characters or more)
}; { $list } shows those that are
find-none = no document is found; try only the first letters of a name
find-none-no-names = no document is found; names are not kept (state.keep_names), so only uuids are searched
find-none-newest = no document is found among the newest: all these words are in very many letters, so write a name
find-nothing = nothing to find: a word needs a letter or a digit
find-a-word = WORD
find-more = there are more than these { $limit }: write more, or { $command }
find-older = there may be older ones: all these words are in very many letters. Write a name, or { $command } for all
find-for-another = a copy that was filed for another patient is still there: { $command } says where
show-bytes = { $size } bytes
show-patient-number = patient number { $number }
show-output = what the program wrote: { $file }
show-attempts = { $count ->
    [one] 1 failed attempt
   *[other] { $count } failed attempts
}, next { $next }
show-event-attempt = { $event } (attempt { $attempt })
show-history-removed = older history was removed (state.keep_history)

## Why a letter waits, or could not be filed. Whoever looks after docsyncd finds its exact words in `docsyncd show` and in the log.

reason-unknown = Details: docsyncd show, with its number.
reason-quote = { $why } It says: “{ $line }”
reason-unconfirmed = It may have arrived: look at the destination. If it is not there, it can be sent again. { $why }
reason-gave-up = docsyncd gave up after many tries. { $why }
reason-not-taken = It is filed, and the practice's software has not taken it yet.
reason-patient-nobody = The patient is not in the practice's list.
reason-patient-several = Several patients of the practice's list may be meant.
reason-patient-no-date-of-birth = The patient's date of birth is missing.
reason-patient-no-name = The patient's name is missing.
reason-patient-other-number = At the destination, this patient has another number than in the practice's list.
reason-patient-not-there = The destination has no patient with this number: create the patient there, then try again.
reason-patient-several-there = The destination has several patients with this number: merge them there, then try again.
reason-patient-not-held = The destination cannot keep the patient's number as it is (a sign, its length or its end), and docsyncd never changes a number: give the patient another number, or let the destination's settings be changed, then try again.
reason-patient-given-away = The letter went elsewhere with a number that the practice's list gives to somebody else now.
reason-patient-no-list = It waits for the practice's list of patients.
reason-not-rendered = Its PDF is not ready yet.
reason-no-content = The service announces its PDF, but the server does not have its content yet.
reason-rendered-anew = Its PDF is being updated.
reason-other-patient = The service names two patients for it: look there whose letter it is.
reason-two-versions = The service shows two versions of it at once: it is looked at again.
reason-filed-for-another = It was filed before for another patient: remove it there{ $places ->
    [0] .
   *[other] : { $place }
}
reason-maybe-for-another = It may have been filed before for another patient: look there, and remove it.
reason-may-be-undone = Somebody at the status page may still undo whose it is: it is filed in a few seconds.
reason-not-read = The service may have corrected it since, but does not show it now: it is read again first.
reason-many-versions = The service shows new versions of it again and again: it is downloaded ever more rarely.
reason-spool-full = The room for downloaded letters is full (state.spool_limit): it is downloaded when others are filed.
reason-spool-damaged = Its downloaded PDF is gone or was changed: docsyncd downloads it again. A virus scanner may have removed it.

reason-no-room = The destination { $name } has no room left: { $places ->
    [0] free space there.
   *[other] free space on the disk that holds { $place }.
}
reason-no-route = No rule of [[routes]] takes this letter: add one, then try again.
reason-record-too-large = The service gives more values for this letter than docsyncd reads: ask the operator of the service.
reason-too-large = Its PDF is larger than the limit (sync.max_pdf_bytes).
reason-exit = The program of the destination { $name } ended with code { $code }.
reason-signal = The program of the destination { $name } was ended by signal { $code }.
reason-crashed = The program of the destination { $name } ended without saying why.
reason-out-of-time = The program of the destination { $name } took too long and was stopped.
reason-program = The program of the destination { $name } cannot be started: call your IT (docsyncd check).
reason-internal = docsyncd had a problem on this computer: the log says which.

reason-destination-no-folder = The folder of the destination { $name } cannot be found: is the share connected?
reason-destination-another-folder = The folder of the destination { $name } is not the one in which letters wait to be taken: is the share connected?
reason-destination-not-allowed = The destination { $name } does not let docsyncd write: give the service's user the right to.
reason-destination-read-only = The destination { $name } is write-protected.
reason-destination-in-the-way = At the destination { $name } another file, folder or link is in the way: call your IT (docsyncd check).
reason-destination-other-content = The destination { $name } has another content under the identifier of this letter: look there, and delete it.
reason-destination-name = The destination { $name } does not accept the file's name: shorten or simplify file_name.
reason-destination-template = A template of the destination { $name } cannot be filled in for this letter: correct it in the configuration.
reason-destination-encoding = A character of this letter does not exist in the encoding that the destination { $name } reads: correct it in the letter, or choose another sidecar_encoding.
reason-destination-patient = The destination { $name } cannot tell for certain which patient this letter is about: enter or correct name and date of birth there, then try again.
reason-destination-too-large = The destination { $name } does not accept a file of this size.
reason-destination-not-written = The destination { $name } could not store the file: check the disk or the share.
reason-destination-unreachable = The destination { $name } does not answer: is it switched on and connected to the network?
reason-destination-crowded = The destination { $name } has as many connections as it accepts, or turns this computer away for a while: docsyncd tries again by itself.
reason-destination-broken-off = The connection to the destination { $name } broke off, or the letter did not arrive there as it was sent.
reason-destination-unsuited = The destination { $name } does not answer as expected: its address or settings are to be checked. Call your IT (docsyncd check).
reason-destination-host-key = The host key of the destination { $name } is not the known one: ask whoever runs that server.
reason-destination-sign-in = The destination { $name } refuses the user, the password or the key, or docsyncd cannot read them.
reason-destination-tls = The encrypted connection to the destination { $name } cannot be made: call your IT (docsyncd check).
reason-destination-busy = The destination { $name } asks to wait (code { $code }).
reason-destination-fault = The destination { $name } has a fault (code { $code }).
reason-destination-says-error = The destination { $name } answers that it failed: its own log says why.
reason-destination-not-yet = The destination { $name } says of it that it is not filed yet, or not found.
reason-destination-unclear-answer = The answer of the destination { $name } sounds like a failure, but may be none: look there whether the letter arrived.
reason-destination-status = The destination { $name } answered with an error (code { $code }).
reason-destination-check = The destination { $name } does not work: is the computer that holds it switched on, is the folder there, may docsyncd write to it?
reason-destination-refuses = The destination { $name } does not accept this letter.
reason-destination-fails = The destination { $name } could not take this letter.

reason-service-unreachable = The service cannot be reached: check the internet connection.
reason-service-broken-off = The connection to the service broke off.
reason-service-signed-out = The account { $name } has to sign in to the service again: call your IT.
reason-service-key = The service refuses the key of the account { $name }: call your IT, it needs a valid one.
reason-service-credentials = docsyncd cannot use what the account { $name } signs in to the service with: call your IT.
reason-service-renewal = The sign-in of the account { $name } cannot be renewed just now: docsyncd tries again by itself.
reason-service-not-allowed = The account lacks the right to do this: ask the operator of the service for it.
reason-service-not-found = The service says that it does not know this letter: docsyncd checks it in the list.
reason-service-busy = The service asks to wait (code { $code }).
reason-service-fault = The service has a fault (code { $code }).
reason-service-status = The service answered with an error (code { $code }).
reason-service-report = The service does not accept the confirmation (code { $code }).
reason-service-not-understood = The answer of the service cannot be understood; a proxy may change it.
reason-service-no-pdf = The PDF of this letter is not at the address that the service gives (code { $code }).
reason-service-insecure = The address of the PDF or the API is not encrypted (https): refused, since patients' data would be sent in the clear.
reason-service-address = The address of the PDF is not allowed: if the PDFs really lie there, name the host in api.pdf_hosts.
reason-service-refuses = The service does not hand out this letter.
reason-service-fails = The service could not give this letter.
reason-not-a-pdf = What the service sent is no PDF; the page of a proxy or of a sign-in may have come instead.
reason-wrong-size = The received PDF does not have the announced size.
reason-no-end = The connection seems to have ended before the PDF was whole.
reason-slow = The download is too slow.
reason-spool = docsyncd cannot keep the PDF on its disk: { $places ->
    [0] free space.
   *[other] free space on the disk that holds { $place }.
}
reason-cut-off = docsyncd was ended while it read this letter.

## The dialogue of `docsyncd setup`. What ends in `-help` stands below the question of the same name. The words of the choices stand in config/presets.

setup-changed = { $file } will be changed if you confirm it at the end; its comments stay as they are.
setup-new = { $file } will be written at the end.
setup-begin = Answers are checked as you go. Nothing is written before the end; Ctrl+C leaves everything as it is.
setup-begin-back = Esc or { $back } goes back to the question before.
setup-nothing-written = Nothing was written.
setup-interrupted = interrupted: nothing was written
setup-no-terminal = setup asks questions, and there is no terminal to ask at: give it the answers in a file, as in docsyncd setup --answers answers.toml (docs/first-hour.md has one)
setup-unusable-terminal = the terminal cannot be used
setup-keys = ↑ and ↓ move, Enter chooses, Esc goes back
setup-gone-back = (back)
setup-its-number = Its number:
setup-number-expected = a number from 1 to { $most } is expected
setup-yes = Yes
setup-no = No
setup-usual-yes = Y/n
setup-usual-no = y/N
setup-yes-or-no = y or n is expected
setup-refused = That does not work: { $why }
setup-needed = an answer is needed
setup-not-expected = { $text } is not what is expected here
setup-no-list = it begins with [ and is no list such as ["a", "b"]
setup-as = { " " }as { $user }
setup-cannot-read = { $file } cannot be read{ $whom }: { $why }
setup-no-place = there is no such place
setup-mend = setup changes only a file that can be read: mend it, or move it away to begin anew
setup-file-head = The configuration of docsyncd.
answers-unreadable = the answers cannot be read{ $whom }: { $why }
answers-letter-case = { $one } and { $other } differ in letter case only: keep one of them
answers-no-file = there is neither { $all } nor { $own }, the name of this computer
answers-text = a text is expected
answers-choice = one of { $names } is expected
answers-true-or-false = true or false is expected
answers-no-value = it is no value for a setting
answers-no-toml = line { $line } is no TOML
answers-table-alerts = `alerts` is a table, not a value: write [alerts] and below it `webhook_url_from`, or [alerts.mail] with `host` and `to`
answers-table-patients = `patients` is a table, not a value: write [patients] and below it `file`
answers-unknown = unknown answer `{ $name }`; the nearest known one is `{ $nearest }`
setup-first = this is the first question
setup-note = note: { $note }
setup-address = Address of the cloud service:
setup-address-help = as its operator gives it, such as https://api.example.test
setup-answers = the service answers
setup-meant = { $address } is meant
setup-meant-host = { $host } with port { $port } is meant
setup-meant-folder = { $folder } is meant
setup-no-mail-address = { $text } is no mail address
setup-mount = this is a share of Windows, and no folder here. Mount it first: sudo mount -t cifs -o credentials=FILE { $share } /mnt/letters (and write it into /etc/fstab), then give /mnt/letters
setup-account = Which account:
setup-auth = docsyncd reads the letters
setup-auth-key = with an API key
setup-auth-sign-in = by signing in, in the browser
setup-keep-key = Go on with { $key }?
setup-key-in-file = the key in { $file }
setup-key-given = the key that was just given
setup-key-environment = the key in the environment
setup-key = API key:
setup-key-help = paste it, it is not shown; or write @FILE for a file that holds it
setup-key-needed = a key is needed: paste it
setup-key-needed-file = a key is needed: name its file, or "-" for standard input
setup-accepted = accepted; { $waiting }
setup-accepted-person = accepted as { $person }; { $waiting }
setup-accepted-practice = accepted as { $person }, practice { $practice }; { $waiting }
setup-waiting = { $count ->
    [one] 1 letter waits
   *[other] { $count } letters wait
}
setup-waiting-many = { $count } letters or more wait
setup-pages = Address of the service's pages, where one signs in:
setup-pages-help = as its operator gives it, such as https://app.example.test
setup-client-id = Client identifier:
setup-client-id-help = the operator issues it (client_id), with a secret, for this practice
setup-client-secret = Client secret:
setup-client-secret-help = paste it, it is not shown; or write @FILE
setup-client-secret-needed = a client secret is needed
setup-port = Port of the registered redirect address:
setup-port-help = the operator registers http://127.0.0.1:PORT/callback, character for character; 0: any
setup-port-expected = a number from 0 to 65535 is expected
setup-port-taken = the port { $port } is taken: another program of this computer uses it. Choose another one
setup-sign-in = Sign account { $name } in:
setup-sign-in-browser = now, in the browser of this computer
setup-sign-in-paste = now, in a browser elsewhere: the address is printed, and the answer pasted here
setup-sign-in-later = later, with { $command }
setup-destination = Which destination:
setup-place = { $name }: { $place }
setup-another-place = another place, beside the present ones
setup-name = A short name for it:
setup-name-help = letters, digits, - and _; docsyncd status and the log call it so
setup-name-refused = only a to z, digits, - and _, and none of the names that there are
setup-letters = Which letters go there:
setup-letters-all = every letter, as well as to { $places }
setup-letters-also = letters of some kinds, as well as to { $places }
setup-letters-only = letters of some kinds, which then go nowhere else
setup-types = Which kinds:
setup-types-help = commas between them: { $types }
setup-types-unknown = { $type } is no kind of letter
setup-preset = Letters go to
setup-same-place = the same place as now: { $place }
setup-same-place-about = keeps the file's name and everything else; only what is asked next can change
setup-other = My software is not named here
setup-other-about = what is known of others by name, and the general ways
setup-other-france = France: nothing public says how Logosw, Julie, Visiodent, Veasy, Desmos and TM-XDI take a document. Ask their maker for a folder that is watched, or for HPRIM (config/examples/hprim.toml).
setup-other-germany = Germany: Turbomed, Medistar and Medical Office take GDT (config/examples/gdt.toml); in charly a person imports what lies in a folder. Nothing public says it of DS-Win, Evident, medatixx and x.isynet: ask for GDT, VDDS-media or a watched folder.
setup-other-english = English-speaking countries: Dentally has an interface by invitation, in EXACT a person imports, Dentrix has an inbox for unfiled documents. Nothing public says it of Eaglesoft, Curve, Carestream and Pearl: ask for a watched folder.
setup-source = source: { $address }
setup-secret = it is not shown; @FILE for a file that holds it
setup-secret-there = it is not shown; @FILE for a file that holds it; empty: the one that is there stays
setup-secret-optional = it is not shown; @FILE for a file that holds it; empty: there is none
setup-secret-removable = it is not shown; @FILE for a file that holds it; empty: the one that is there stays; - removes it
setup-removes = - removes it
setup-secret-needed = a secret is needed
setup-what-key = key
setup-what-client-secret = client secret
setup-what-secret = secret
setup-pasted-quoted = this holds quotation marks beside the { $what }: give the { $what } alone
setup-pasted-bearer = this holds the word Bearer or Authorization beside the { $what }: give the { $what } alone
setup-pasted-empty = this is empty: a { $what } is needed
setup-pasted-other = this is no { $what }: one line of letters, digits and signs, without spaces, is expected
setup-pasted-private-key = this is no private key: name its file, as in @/media/usb/id_ed25519
setup-pasted-empty-password = this is empty: a password is needed
setup-pasted-password = this is no password: one line is expected
setup-choice-encryption-starttls = STARTTLS, after the greeting (usual)
setup-choice-encryption-tls = TLS from the start
setup-choice-encryption-none = nothing (only to a server on this computer)
setup-choice-on-lost-reply-resend = it is sent again, by the same number
setup-choice-on-lost-reply-hold = it waits until a person has looked
setup-choice-profile-mhd = IHE MHD
setup-choice-profile-pdsm = PDSm (France)
setup-choice-profile-isik = ISiK (Germany)
setup-choice-profile-plain = FHIR alone
setup-choice-webhook-format-json = one JSON object a message (docs/json.md)
setup-choice-webhook-format-teams = Microsoft Teams (a workflow)
setup-choice-webhook-format-slack = Slack, or Mattermost
setup-choice-webhook-format-ntfy = ntfy
setup-choice-webhook-format-gotify = Gotify
setup-no-sub-folders = what receives the letters reads no sub-folders: leave it out, or give one without / and \
setup-tried = tried: it works
setup-tried-program = tried: it is there and can be run
setup-tried-folder = tried: a file was written there, given its name, and removed
setup-tried-folder-as = tried: files can be written there, also by { $user }, whom the service runs as
setup-tried-host = tried: { $host } answers
setup-try-again = Try again?
setup-give = The folder is not { $user }'s, whom the service runs as. Give it to { $user }?
setup-give-answer = { $why }; or answer give_folder = true
setup-stopped = the service runs as { $user }, which may not pass through { $folder }: chmod o+x { $folder }
setup-may-not-file = the service runs as { $user }, which may not write into { $folder } (mode { $mode }, of user { $owner }): give it the folder with chown { $user } { $folder }
setup-may-not-read = the service runs as { $user }, which may not read { $folder }: let it, with chmod o+r { $folder }, or chgrp { $user } { $folder } and chmod g+r { $folder }
setup-you = you
setup-reader = Who reads the letters there:
setup-reader-help = a user or group of this computer; empty: only { $user } (and root)
setup-reader-takes = Does { $reader } also take them away (move or delete them)?
setup-reader-gets = { $reader } gets group, 0640 for files and { $mode } for folders
setup-reader-stopped = { $reader } may not pass through { $folder }: let it, with chmod o+x { $folder }
setup-no-reader = this computer knows no user and no group { $reader }
setup-no-group = it has no group
setup-only-root-gives = only root may give { $folder } to a group: run setup with sudo, or first sudo chgrp { $group } { $folder } and sudo chmod 2750 { $folder } (destination { $name })
setup-only-root = only root (sudo) can set things up for another user
setup-group = { $name } is a group, not a user
setup-server-key = The server shows { $fingerprint } ({ $algorithm }). Does its operator say the same?
setup-server-key-help = ask them by telephone or on paper; nothing is sent to a server with another key
setup-server-key-answer = the server shows { $fingerprint } ({ $algorithm }): ask its operator whether that is right, and answer host_key = "{ $fingerprint }"
setup-server-key-other = NOT the key that is known, { $known }: unless its operator changed it, somebody stands in between
setup-server-key-refused = nothing is sent to a server that is not known
setup-list = List of patients, as the practice's software exports it:
setup-list-help = a CSV with the names of its columns in the first line (docs/patients.md); empty: none
setup-column-number = the patient's number
setup-column-last-name = the last name
setup-column-first-name = the first name
setup-column-date-of-birth = the date of birth
setup-column-former-name = a second last name
setup-column = Which column holds { $holds }:
setup-no-column = which column holds { $holds }? It has { $columns }
setup-in-column = { $holds } in `{ $name }`
setup-patients = { $count } patients ({ $facts }); { $columns }
setup-no-patients = it holds no patients: export it again
setup-match = letter of { $who } → { $number }
setup-number = number { $number }
setup-no-match = no letter can be seen yet, to try it with
setup-right = Is that right?
setup-right-help = no: another file
setup-written-with = It is written with
setup-day-first = the day first
setup-month-first = the month first
setup-cp850 = DOS in Western Europe (cp850)
setup-cp437 = DOS in the United States (cp437)
setup-iso-8859-15 = iso-8859-15
setup-another-file = neither: another file
setup-by-number = Call letters { $name }?
setup-by-number-help = no: { $now }
setup-more = What else is set up:
setup-more-nothing = nothing more
setup-more-nothing-told = nothing more; look at docsyncd status yourself
setup-lose = Go back, and give up what was just set up here?
setup-none = { $what ->
   *[other] none
}
setup-more-there = (as it is now, or changed)
setup-more-patients = The practice's own number of each patient
setup-more-patients-about = from a list that its software exports; names of files can have it
setup-more-confirm = Proof that the practice's software took each letter
setup-more-confirm-about = by what it does with the file; success is reported only then
setup-confirm = What the practice's software does with a letter:
setup-confirm-none = nothing: it counts as soon as it lies there
setup-confirm-taken = takes the file away: it counts when that is gone
setup-confirm-moved = moves it into a folder below: it counts when it lies there
setup-confirm-renamed = renames it: it counts when it lies there under another name
setup-confirm-sidecar = writes a line into the sidecar: it counts when that stands there
setup-confirm-folder = Into which folder, below that of the letters:
setup-confirm-line = Which line:
setup-confirm-line-help = KEY=VALUE
setup-test = Send a message to each of them now, to see it arrive?
setup-test-refused = the message was not taken by all of them; docsyncd alerts test tries again
setup-page = Show in the browser of this computer how docsyncd is?
setup-page-help = at 127.0.0.1 only; names of patients and files need the key that docsyncd open brings
setup-page-port = Port of the page:
setup-page-port-help = at 127.0.0.1, for the browser of this computer
setup-ledger = Where may docsyncd keep its ledger:
setup-ledger-help = a file on a local disk; which letter went where stands in it
setup-no-ledger = the ledger { $file } cannot be written{ $whom }: { $why }
setup-give-file = the service runs as { $user }: give it the file with chown { $user } { $file }
setup-shown-waiting = What waits would be filed as
setup-shown-known = Letters would be filed as
setup-shown-invented = No letter can be seen yet; an invented one would be filed as
setup-shown-person = the letter …{ $who } waits for a person: { $why }
setup-write = Write { $file }?
setup-write-yes = yes
setup-write-change = change an answer before
setup-write-no = no, leave everything as it is
setup-change = What is to be changed?
setup-change-done = nothing more
setup-part-address = the address of the cloud service: { $value }
setup-part-account = the account, and its key or sign-in: { $value }
setup-part-place = where letters go ({ $name }): { $value }
setup-part-reader = who reads them there ({ $name }): { $value }
setup-part-practice = the name of the practice, and who is called: { $value }
setup-part-patients = the practice's list of patients: { $value }
setup-part-confirm = proof that the software took each letter ({ $name }): { $value }
setup-part-page = the page in the browser: { $value }
setup-remove-mail = remove the mail alarm
setup-remove-webhook = remove the webhook alarm
setup-remove-heartbeat = remove the monitor
setup-remove-patients = remove the list of patients
setup-remove-page = remove the page in the browser
setup-removed = it is removed when this is written
setup-remove-needed = something else needs it: change that first ({ $why })
setup-rights = rights on { $file } changed
setup-rights-refused = the rights on { $file } could not be changed, and nothing was written
setup-secret-written = { $file } written, readable for nobody else
setup-given = { $file } given to { $user }
setup-give-refused = cannot give { $file } away
setup-stays = { $file } stays as it is
setup-written = { $file } written
setup-written-kept = { $file } written; what it was before is in { $kept }
setup-write-refused = cannot write { $file }
setup-may-not-write = { $folder } cannot be written{ $whom }: { $why }. Setup writes there: run it with sudo, or choose another file with --config FILE
setup-may-not-write-windows = { $folder } cannot be written{ $whom }: { $why }. Setup writes there: open the console as administrator, or choose another file with --config FILE
setup-tried-as-root = (tried as root, not as { $user }, who could not run this program)
setup-fail-first = Mend what says FAIL first.
setup-runs-already = The daemon runs already and takes this configuration over. How it is: { $command }
setup-start = Start the service: { $command }
setup-what-it-does = What it does: { $command }
setup-install = Where the MSI did not install it: { $command }
setup-once = File what waits, once: { $command }
setup-until = Run until it is stopped: { $command }
setup-open = How it is, in the browser: { $command }

## What did not work: the exact reason stands behind it in brackets, in English. In English it stands alone.

told-configuration = the configuration cannot be used
told-configuration-at = the configuration cannot be used: { $place }
told-no-configuration = { $file }: there is no such configuration file. docsyncd setup asks what is needed and writes one; or name yours with --config FILE
told-refused-key = the service refuses this key: check it, or ask the operator of the service for a new one
told-busy = the service asks to wait: try again later
told-fault = the service has a fault: try again later
told-ledger = docsyncd's ledger cannot be used
told-ledger-new = the ledger cannot be created there
told-log = the log file cannot be written
told-failed = that did not work
told-answer = this answer cannot be used
told-answer-address = this is no web address: write it as in https://api.example.test
told-answer-unencrypted = this address is not encrypted: write it with https://
told-answer-address-alone = give the address alone, without a user name and without what stands behind ? or #
told-answer-whole-path = write the whole path, without ~
told-answer-duration = a number with its unit is expected, such as 30s, 15m, 6h or 7d
told-note = something to know
told-good = checked
note-key = the server's key is { $key }
note-durable = what is filed is forced to its disk
note-no-overwriting = it refuses to overwrite
note-only-size = only the size is read back
note-recipients = no recipient was tried
note-mail-size = mails of up to { $key }
note-no-sign-in = a connection comes about
note-finds-letters = it answers when it is asked for a letter
note-finds-patients = it answers when it is asked for a patient
note-searches = letters are searched for
note-not-written = nothing was written to try it
note-read-back = each object is read back
note-not-started = its program is { $key }
note-no-message = it accepts a connection
note-lost-waits = a letter whose answer is lost waits for a person
note-lost-again = a letter whose answer is lost is sent again
told-api = the service did not answer as expected
told-unreachable = the service does not answer at this address: check it
told-refused = the service refuses this
told-broken-off = the connection to the service broke off
told-signed-out = the account has to sign in again
told-no-key = the account has no key or sign-in that can be used
told-not-allowed = the account lacks the right to do this: ask the operator of the service for it
told-not-the-service = another program answers at this address: is it complete, with its path?
told-no-folder = the folder { $folder } is not there: does it exist, and is the share mounted?
told-folder = the folder { $folder } cannot be used
told-reader = whoever is to read the letters there cannot
told-program = the program cannot be started: check its name and path
told-mail-server = the mail server does not work like this: check its name, port, user and password
told-server = this place does not work like this: check its address, user and password
told-no-folder-there = this folder does not exist on the server: create it there, or correct it
told-alarm = nobody can be told in this way
told-alarm-unencrypted = the mail server offers no encryption
told-recipient = one of the recipients is refused
told-port = the port cannot be used: another program may have it
told-certificate = the certificate of the page cannot be used
told-certificate-doubt = browsers do not trust the certificate of the page, or soon will not
told-webhook = the account cannot register one
told-sign-in = nobody was signed in
told-list = the list of patients { $file } cannot be used
told-list-missing = there is no file { $file }: export the list there
told-list-unreadable = docsyncd may not read the list of patients { $file }
told-list-later = the list of patients { $file } cannot be read now: the export may not have ended, or its share is away
told-list-doubt = it may not be whole
told-list-workbook = { $file } is a workbook of Excel or a similar program: save it as CSV UTF-8 there, and name that file
told-list-encoding = letters in { $file } cannot be read: export it as CSV UTF-8
told-list-columns = the first line of { $file } does not name the columns that are needed
told-list-two-ways = the dates in { $file } can be read in two ways: day or month first
told-list-dates = a date of birth in { $file } cannot be read
told-list-content = { $file } cannot be used as it is: export it again
refused-by-ledger = the configuration cannot be used ({ $why }); this uses the ledger { $ledger }
no-account = there is no account "{ $name }"; the nearest is "{ $nearest }"
account-all-by-key = no account needs a sign-in: all use an API key. Set auth = "oauth" for one that should
account-by-key = account { $name } uses an API key, so it needs no sign-in; with auth = "oauth" it would. A new key belongs into { $place }
account-not-there = there is no account { $name } to sign in; there are: { $names }
account-which = several accounts sign in: choose one with --account ({ $names })
root-made-folder = warning: { $folder } was created, and belongs to root, who ran this. If the service runs as another user, it cannot write there: give it the folder with chown -R USER { $folder }
typed-unknown-option = unknown option: { $what }
typed-unknown-command = unknown command: { $what }
typed-no-command = a command is missing
typed-missing = missing: { $what }
typed-conflict = does not go with the rest: { $what }
typed-value = not what is expected: { $what }
typed-otherwise = this command line has a mistake
typed-similar = similar: { $what }
typed-possible = possible: { $what }
typed-usage = usage: { $usage }
typed-more = more: the same command with --help
named-several = { $text } is part of { $count } uuids: write more of the one that is meant

## `docsyncd check`

check-what-config = config
check-what-account = account { $name }
check-what-api = api
check-what-destination = destination { $name }
check-what-patients = patients
check-what-alerts-mail = alerts mail
check-what-alerts-webhook = alerts webhook
check-what-alerts-heartbeat = alerts heartbeat
check-what-alerts-mail-of = alerts mail of { $name }
check-what-alerts-webhook-of = alerts webhook of { $name }
check-what-alerts = alerts
check-what-status-page = status page
check-what-certificate-of-the-status-page = certificate of the status page
check-what-webhook = webhook
check-what-webhook-of = webhook of { $name }
check-what-ledger = ledger
check-what-log = log
check-what-spool = spool
list-dates = dates as { $date }
check-list-unused = { $file }: no destination uses the list: put {"{{"} patient.number {"}}"} into a destination's file_name, or docsyncd setup asks for it
check-answers = the API answers; { $waiting }
check-answers-as = the API answers; { $waiting }; as { $user }
check-answers-practice = the API answers; { $waiting }, practice { $practice }
check-answers-as-practice = the API answers; { $waiting }; as { $user }, practice { $practice }
check-waiting = { $count ->
    [one] 1 document is not synchronized yet
   *[other] { $count } documents are not synchronized yet
}
check-waiting-many = { $count } documents or more are not synchronized yet
check-clock-ahead = this computer's clock is { $apart } ahead of the service's: let it be set by the network ({ $how })
check-clock-behind = this computer's clock is { $apart } behind the service's: let it be set by the network ({ $how })
check-clock-windows = Settings, Time, Set the time automatically
check-alarm = { $host } answers; docsyncd alerts test sends a message
check-args = `args` names the patient, and other users of this machine can see arguments: let the program read standard input
check-works = works
check-reads = { $works }; { $reader } can read what is filed
check-ledger-runs = { $path }; the daemon runs
check-ledger-idle = { $path }; the daemon does not run
check-ledger-new = { $path } will be created by the first run
check-page-served = { $address }, served by the running daemon
check-page-silent = the daemon says that it serves { $address }, and does not answer there
check-page-late = { $address } is free, but the running daemon does not serve it yet: it tries every 30 s
check-page-free = { $address } is free; the daemon will serve it
check-page-certificate = the certificate and its key can be used
check-webhook-heard = http://{ $address }/ is heard by the running daemon
check-webhook-late = http://{ $address }/ is free, but the running daemon does not listen there yet: it tries every 30 s
check-webhook-free = http://{ $address }/ is free; the daemon will listen there
check-webhook-may = the account may register one: it was tried, and taken back
check-full = the disk that holds { $path } is full: free space on it
check-short = the disk that holds { $path } has { $left } free, and what waits needs about { $needed }: free space on it
check-no-patients = { $file } holds no patients: every letter that needs a number waits for a person
check-doubt = { $list }; { $doubt }: if that is right, do nothing: it counts when it has not changed for a minute
check-not-held = { $file }, row { $rows }: destination `{ $name }` cannot hold the patient's number as it is, so letters of that patient will wait for a person
check-rows-more = { $rows } and { $more } more
check-list-defect = { $file }: reading it ended in the middle, which is a defect of docsyncd
check-patients = { $count } patients in { $file } ({ $facts })
check-without-number = { "" }; { $rows } without a number, which are ignored
check-without-date = { "" }; { $rows } without a date of birth, whose letters wait for a person

## `docsyncd assign`

assign-no-list = there is no list of patients to assign letters by: add a section [patients] (docs/patients.md)
assign-which = whose letter? Name it: { $command }
assign-ended = document { $uuid }: it is not known who its patient is: it has ended, or was not downloaded yet; { $command } shows where it stands
assign-not-read = document { $uuid }: it was filed already, and the service does not say now who its patient is
assign-not-listed = document { $uuid }: nobody in the practice's list has that number ({ $number }): correct it, or write --not-listed if the patient is new there
assign-no-number = document { $uuid }: a number has at least one character, and none that is not seen
assign-shared = document { $uuid }: the practice's list has two persons under that number: mend that there first
assign-document = document { $uuid }
assign-in-cloud = in the cloud service: { $last } { $first }, born { $born }
assign-cloud = in the cloud service
assign-list = in the practice's list
assign-last = last name
assign-first = first name
assign-born = date of birth
assign-differs = differs
assign-known = the patient's number is { $number }: nobody has to decide
assign-changed = it was assigned before, and a name or a date of birth has changed since then
assign-nobody = nobody in the list is like this patient
assign-may-be = who it may be:
assign-column-number = number
assign-column-last-name = last name
assign-column-first-name = first name
assign-column-born = born
assign-column-differs = what differs
assign-column-letter = letter
assign-column-in-list = in the list
assign-column-assigned = assigned
assign-column-by = by
assign-nothing = nothing
assign-part-of-last-name = only a part of the last name is the same
assign-part-of-first-name = only a part of the first name is the same
assign-swapped-names = last and first name are swapped
assign-day-and-month = day and month of the date of birth are swapped
assign-one-digit = one digit of the date of birth
assign-no-date-of-birth = a date of birth is missing
assign-first-name = the first name (a twin?)
assign-last-name = the last name
assign-date-of-birth = the date of birth
assign-shared-number = the list has two persons under this number
assign-settles = { $command } settles it
assign-unlisted = the number { $number } is not in the practice's list
assign-none = nothing was assigned
assign-done = { $uuid }: its patient is number { $number } ({ $patient }), also for letters to come; { $when }
assign-anew = { $uuid }: its patient is number { $number } ({ $patient }), and it is filed anew with that number; { $when }. The copy with the other number stays where it is: { $command } says where; remove it there
assign-others = { $count ->
    [one] One more letter of this patient was filed with another number before, and stays there: { $letters }. If that number was wrong, run { $command } for it, too
   *[other] { $count } more letters of this patient were filed with another number before, and stay there: { $letters }. If that number was wrong, run { $command } for each of them, too
}
assign-not-in-list = not in the list
assign-nobody-asked = nobody can be asked here whether this is the patient: look at both sides above, and write --yes
assign-question-again = Are you sure? Assign to the patient with the number { $number }?
assign-a-number = NUMBER
who-page = status page, browser { $browser }
assign-question = Is this the patient with the number { $number }?
assign-question-anew = It was filed with another number, and is filed anew. Is this the patient with the number { $number }?
assign-not-assigned = nobody assigned the patient of document { $uuid }
assign-removed = { $uuid }: its patient is no longer assigned; delivered letters stay where they are

## `docsyncd retry` and `poll`

retry-nothing = nothing is tried again
retry-moved = { $uuid }: tried again, now { $state }
retry-due = { $uuid }: was waiting ({ $state }), due now
retry-filed = { $uuid }: { $state }; it lies there already: docsyncd only looks whether it was taken
retry-none-failed = no document has failed: there is nothing to try again
retry-done = { $count ->
    [one] 1 document to try again
   *[other] { $count } documents to try again
}; { $when }
retry-question = { $count ->
    [one] Document { $uuid } is filed and reported already. Fetch, file and report it
   *[other] { $count } documents are filed and reported already. Fetch, file and report them
} again? A file that is there with the same content stays as it is.
retry-nobody-asked = { $count ->
    [one] document { $uuid } is filed and reported already, and nobody can be asked here whether it
   *[other] { $count } documents are filed and reported already, and nobody can be asked here whether they
} shall be filed once more: write --yes
retry-at-once = the running daemon takes it up at once
retry-not-running = docsyncd is not running: it is taken up by the next { $command } or sync
retry-removed = { $uuid }: the earlier version is there no more
retry-arrived = { $uuid }: it arrived, and counts as delivered; { $when }
retry-not-arrived = of document { $uuid } nothing waits for somebody to say that it arrived: { $command } shows where it stands
retry-unclear = document { $uuid } waits for its proof, and an old copy of it lies beside it: if the old copy is gone, say so first ({ $command })
retry-which = which documents? Name them ({ $command }), or all that failed ({ $all })
retry-which-waiting = which documents? Name them ({ $command }); none has failed, { $count ->
    [0] and none waits
    [one] 1 document waits:
   *[other] { $count } documents wait:
}
retry-which-failed = which documents? Name them ({ $command }), or all that failed ({ $all })
    { $count ->
        [one] 1 document
       *[other] { $count } documents
    } failed:
retry-all-of-them = { $command } shows all of them
retry-beside = There twice, as an old version or for another patient; once the old copy is removed there, say so ({ $command }):
retry-paused = { $scope } is paused: { $why }. It is tried again by itself, next at { $next }
retry-by-themselves = They are tried again by themselves; one that is named is due at once
retry-check = Run docsyncd check to see whether it works again
retry-check-or-sync = Run docsyncd check to see whether it works again; docsyncd sync tries what is paused at once
poll-not-running = it is not running, so nobody looks: start it ({ $start }), or look once with { $sync }
poll-no-answer = whoever works on the ledger has not answered within { $seconds } s (a docsyncd sync polls by itself)
poll-done = the running daemon looks now, and tries at once what waits for a destination or an account

forget-question = Erase the names and places that are kept of { $which }? They cannot be restored.
forget-nothing = nothing is erased
forget-done = { $uuid }: its names and places are erased; that it was delivered, and its digest, stay
forget-open = { $uuid } is still being worked on ({ $state }) and keeps its names until it has ended: { $command } says when
forget-traces = traces of the names may be left in unused parts of the ledger's file, which could not be rewritten: { $why }. Run the same command again later.
forget-output = { $uuid }: what a program printed about it, in the folder `output` beside the ledger, cannot be removed: { $why }. Run the same command again later.
service-no-systemd = this system was not started by systemd, and docsyncd knows no other manager of services here. Let yours run `docsyncd run`: it logs to standard error, reads its configuration again on SIGHUP, and ends with 0 on SIGTERM within 30 s, when what is in flight is finished
service-no-unit = there is no { $unit }: the deb and rpm packages of docsyncd bring it, with its user and its folders
service-installed-runs = { $unit } runs, and starts with the system
service-installed = { $unit } starts with the system from now on; at once: docsyncd service start
service-uninstalled = { $unit } does not run, and no longer starts with the system; configuration, ledger and keys stay. What the package has installed is removed with the package
service-runs = { $unit } runs
service-runs-not = { $unit } does not run
service-not-read = no service reads { $file }: docsyncd.service reads { $default }, and docsyncd@NAME.service reads { $folder }/NAME.toml, with letters, digits and _ . : - in NAME
service-not-done = systemd did not do it. The log of the service says why: journalctl -u { $unit } -n 20
service-only-root = only root may do that: { $command }
service-windows-removed = the service is removed; configuration, ledger and logs stay
service-windows-none = there was no service
service-windows-runs = the service runs
service-windows-runs-already = the service runs already
service-windows-stopped = the service has stopped
service-windows-runs-not = the service does not run
service-windows-missing = the service is not installed: docsyncd service install
sync-runs = the running daemon does this already: docsyncd poll makes it look now ({ $file } is in use by another docsyncd)
sync-account = account { $name }: { $why }
sync-done = { $now } reported now; in all { $reported } reported, { $failed } failed, { $waiting } waiting
sync-paused = { $scope } is paused: { $why }
sync-unreadable = the list shows documents without an identifier that can be used ({ $count } on one page): ask the software's vendor
sync-documents = documents
## `docsyncd preview`

preview-not-filed = it would not be filed
preview-not-read = what waits for the account { $account } cannot be read
preview-more = there are more: { $command }
preview-there = (there already)
preview-taken = that name is taken, unless by this document itself:
preview-accounts = { $count ->
    [one] account { $names }
   *[other] accounts { $names }
}
preview-unknown = what waits for { $accounts } is not known
preview-nothing = nothing waits
preview-nothing-for = nothing waits for { $accounts }; { $unknown }
preview-at-least = at least { "" }
preview-of-more = { $shown } of more than { $total } documents that wait
preview-all = { $least }{ $total ->
    [one] 1 document waits
   *[other] { $total } documents wait
}
preview-of = { $shown } of { $least }{ $total } documents that wait
preview-end = { $how_many }{ $unknown }; nothing was filed or reported

## `docsyncd reconcile`, `alerts test` and `open`

reconcile-letters = letters
reconcile-not-compared = { $scope } could not be compared
reconcile-repaired = { $count ->
    [one] 1 letter
   *[other] { $count } letters
} to be repaired; { $when }
reconcile-of-destination = destination { $name }: { $what }
reconcile-of-account = account { $name }: { $what }
reconcile-missing = delivered, and it does not lie there any more
reconcile-other-content = something else lies in its place; nothing is overwritten
reconcile-not-synchronized = reported, and the service lists it as not synchronized
reconcile-ended-at-api = still open here, and the service does not list it any more
reconcile-more = and { $count } more
reconcile-agrees = all agree
reconcile-agrees-as-far = what could be looked at agrees
reconcile-differences = { $count ->
    [one] 1 difference
   *[other] { $count } differences
}
reconcile-looked-at = { $differing }; looked at in their places: { $count }
reconcile-not-taken = nothing to compare: { $count ->
    [one] 1 letter is filed and not yet taken
   *[other] { $count } letters are filed and not yet taken
}
reconcile-cannot = { "" }, cannot be looked at: { $count }
reconcile-new = { "" }, not fetched yet: { $count }
reconcile-emptied = nothing is filed again at { $destination }: all { $letters } letters that were looked at there are missing. Is the share not mounted, or was its folder moved? If they are really gone, file one of them again (`docsyncd retry UUID`), then run this once more
reconcile-file-again = { $uuid }: file it again at { $destination }
reconcile-report-again = { $uuid }: report it again
reconcile-open = { $count ->
    [one] 1 letter
   *[other] { $count } letters
} open here: the next polls decide about that
reconcile-no-account = { $uuid } cannot be filed again: its account { $account } is not configured
reconcile-not-given = { $uuid } cannot be filed again: the service does not give it
reconcile-nobody-asked = nothing is filed again, as nobody can be asked here: { $command }
reconcile-question = File { $count ->
    [one] 1 letter
   *[other] { $count } letters
} again? If the practice's software took them, they come twice.
reconcile-left = document { $uuid } is left as it is: it is on its way, or its report is not accepted yet
alerts-nobody = nobody is told anything: there is no heartbeat_url_file, webhook_url_file or [alerts.mail] in [alerts]
alerts-taken = took the message (answered { $code })
open-no-page = there is no status page: write [status_page] with listen = "127.0.0.1:8977" into the configuration
open-not-running = it is not running, and with it the status page: start it ({ $command })
open-not-served = it runs, but does not serve the status page: its port may be in use, or it has not read the new configuration yet. The log and { $command } say why
open-not-encrypted = the page is served over the network alone and without TLS, and so without names and buttons: write certificate_file and certificate_key_file into [status_page], or listen = "127.0.0.1:8977"
open-for-another = Open this address in a browser of the other computer within an hour; it counts once. That browser is then known until it was not used for 90 days:
open-for-another-tunnel = Other computers do not see the page in full yet: [status_page] needs certificate_file and certificate_key_file, or public_url (docs/status-page.md). Until then this address works on this computer and through ssh -L, once within an hour:
open-no-screen = There is no screen here.
open-done = the browser opens { $page }
open-no-browser = no browser could be opened
open-address = Open this address in a browser of this computer within two minutes; it counts once:

## `docsyncd login`, at the terminal

sign-in-opens = The browser opens to sign account { $name } in. If it does not, open this address yourself:
sign-in-open = Open this address in a browser and sign in as the user of account { $name }:
sign-in-returns = It returns to { $address }, which the operator has to have registered exactly so.
sign-in-paste = 
    If the browser runs on another computer, it ends on an address that it cannot open: copy that whole address,
    paste it here and press Enter.
sign-in-done = account { $name } is signed in
sign-in-nameless = the service did not say who that is
sign-in-no-name = a user without a name
sign-in-as = signed in as { $person } (account { $name })
sign-in-as-practice = signed in as { $person }, practice { $practice } (account { $name })

sign-in-no-page = api.app_url is not set: the page to sign in on lies below it. Ask the operator for it
sign-in-port-taken = port { $port } of 127.0.0.1 (accounts.{ $name }.redirect_port) cannot be used: { $why }. Another program uses it, maybe another docsyncd login: end that. Or choose another port, and have the operator register the address with it
sign-in-port-refused = port { $port } of 127.0.0.1 (accounts.{ $name }.redirect_port) cannot be used: { $why }. Choose another port, and have the operator register the address with it
sign-in-nobody = nobody signed in within { $patience }: nothing was changed. Run docsyncd login again
sign-in-interrupted = interrupted: nothing was changed
sign-in-pasted-incomplete = that is not the address: it has to contain code= and state= (or error=). Copy the whole address from the browser and paste it again
sign-in-pasted-other = that address belongs to another sign-in. Open the address above, and paste the one that the browser ends on then
sign-in-strangers = ten answers came that do not belong to this sign-in: a program or page on this computer makes them up, or an old tab reloads. Further ones are ignored without a word. Still waiting
sign-in-stranger = an answer came that does not belong to this sign-in (wrong state): it was ignored. Still waiting
sign-in-stranger-incomplete = an answer came that says neither code nor error: it was ignored. Still waiting
sign-in-another = warning: account { $name } was signed in as { $before } before. Documents of { $before } that docsyncd knows stay as they are; from now on those of { $email } are fetched. If that is a mistake, run docsyncd login --account { $name } again as { $before }, and give { $email } an account of its own
sign-in-not-remembered = warning: who signed in could not be remembered: { $why }
sign-in-not-all-allowed = warning: not everything was allowed: { $scopes }. What needs it will fail with HTTP 403; run docsyncd login --account { $name } again and leave everything ticked
logout-failed = account { $name } could not be signed out
logout-nothing = account { $name } was not signed in: nothing to do
logout-done = account { $name } is signed out: its tokens are deleted from this computer, and a running docsyncd pauses it.
    What was filed stays. docsyncd login --account { $name } signs it in again.
## The pages that `docsyncd login` ends on, and why nobody is signed in. `-do` says what to do.

login-done = You are signed in
login-as = Signed in as
login-done-do = docsyncd on this computer can now file your documents.
login-close = You can close this window.
login-foreign = This is not the sign-in that docsyncd waits for
login-foreign-do = It belongs to an earlier attempt, or another program made it up. Nothing was changed. Use the address that docsyncd showed last.
login-incomplete = This address says nothing about a sign-in
login-incomplete-do = Nothing was changed. Use the address that docsyncd showed last.
login-used = This sign-in was already used
login-used-do = An answer counts only once. What became of it is in the window in which docsyncd login was started.
login-denied = Access was refused on the sign-in page
login-denied-do = If that was not meant, run docsyncd login again and approve.
login-invalid-request = The server does not accept the request
login-invalid-request-do = Compare client_id, scopes and redirect address with what the operator registered.
login-unauthorized-client = The server does not let this application sign people in
login-unauthorized-client-do = Ask the operator to allow it for the client_id in the configuration.
login-invalid-scope = The server does not grant one of the scopes
login-invalid-scope-do = Compare the account's scopes in the configuration with what the operator allows.
login-server-fault = The server has a fault of its own
login-server-fault-do = Run docsyncd login again in a few minutes.
login-other-refusal = The server refused the sign-in
login-other-refusal-do = Run docsyncd login again; if it happens again, tell the operator the words below.
login-code-refused = The server no longer accepts this sign-in
login-code-refused-do = It is valid for 60 seconds and only once. Run docsyncd login again.
login-client-refused = The server does not accept the application's credentials
login-client-refused-do = Check client_id and client_secret_file in the configuration, then run docsyncd login again.
login-unreachable = The sign-in could not be finished with the server
login-unreachable-do = Check the network and api.base_url, then run docsyncd login again.
login-no-secret = The client secret cannot be read
login-no-secret-do = Correct client_secret_file, then run docsyncd login again.
login-not-saved = The sign-in could not be saved on this computer
login-not-saved-do = Correct what is said below, then run docsyncd login again.

## docsyncd support

support-written = { $file } is written ({ $size } kB), for whoever helps you. In it, and missing:
support-names-nobody = It names no patient, file, folder, computer or person. Look into it before you send it.
support-kilobytes = { $size } kB
support-lacks-configuration = missing: the configuration cannot be used (docsyncd check says why)
support-lacks-not-running = missing: docsyncd is not running
support-lacks-no-page = missing: docsyncd runs and serves no status page
support-lacks-no-answer = missing: the status page gives no answer
support-lacks-no-ledger = missing: there is no ledger yet
support-lacks-no-right = missing: this user may not read it; call this as an administrator
support-lacks-locked = missing: another program holds the ledger
support-lacks-damaged = missing: the ledger is damaged
support-lacks-foreign = missing: the ledger is of another version, or of another program
support-lacks-unreadable = missing: it cannot be read
support-lacks-late = missing: it took too long
support-lacks-no-log = missing: there is no log file (log.file), and the journal has nothing of docsyncd from this time; did it write elsewhere?
support-lacks-no-lines = missing: nothing was logged in this time
support-lacks-not-known = missing: one of the documents is not known
support-lacks-too-large = missing: it is too large

## `docsyncd backup`, `restore` and `move`

backup-written = { $file } written ({ $size }): the ledger as it was on { $time }, and the configuration
backup-letters = { $count ->
    [one] 1 letter is in the ledger, with the patient's name: keep the file so that nobody else can read it
   *[other] { $count } letters are in the ledger, with patients' names: keep the file so that nobody else can read it
}
backup-plain = It is not encrypted, so it contains no key, password or sign-in. With --passphrase-file it does
backup-secrets = { $count ->
    [one] Encrypted, with 1 key, password or sign-in
   *[other] Encrypted, with { $count } keys, passwords and sign-ins
}
backup-missing = Not in it:
restore-done = Restored as it was on { $time }: { $count ->
    [one] 1 letter
   *[other] { $count } letters
}, and the configuration { $config }
restore-aside = What was there before is now { $place }
restore-missing = Not in the backup, so it has to be set up here:
restore-unseen = { $count ->
    [one] 1 letter that was under way may be filed a second time, or wait for a person (on_lost_reply)
   *[other] { $count } letters that were under way may be filed a second time, or wait for a person (on_lost_reply)
}: nobody can see whether they arrived in { $names }. If nothing ran after the backup, restore it with --nothing-since
restore-all-seen = Before docsyncd sends a letter that was under way, it looks whether it arrived already
restore-nothing-since = Nothing was filed after the backup, as you say: letters that were under way go on as they were
restore-start = At its start docsyncd first reads the whole list of each account. Start the service: { $command }
move-done = The ledger has moved: docsyncd does not work with it here any more. On the other machine: { $there }. To take it back: { $back }
move-undone = The move of { $time } is taken back. Another machine may have worked since: it must not run any more. docsyncd looks where each letter is before it sends one
backup-there = { $file } is there already, and nothing was written: choose another name, or --force replaces it
backup-no-file = { $file } is no regular file, and stays: choose another name
backup-own = { $file } is a file that docsyncd works with, and nothing was written: choose another name
backup-not-written = { $file } cannot be written, and nothing is left of it
backup-left-out = warning: { $what } cannot be read, so it is not in the backup: { $why }
restore-runs = docsyncd runs and works with the ledger { $file }, and nothing was changed. Stop it first: { $command }
restore-letters = the ledger { $file } has letters of its own, and nothing was changed: --force moves it aside, and says where
restore-there = { $file } is there already, and nothing was changed: --force moves it aside, and says where
restore-configuration = the configuration in the backup cannot be used here, and nothing was changed: { $what }
restore-newer = { $file } was written by a newer docsyncd ({ $what }), and nothing was changed: install that version first
restore-unwritable = { $file } cannot be written, and nothing was changed
restore-unpacked = { $file } cannot be unpacked, and nothing was changed: { $what }
restore-unreadable = { $file } cannot be read, and nothing was changed: { $what }
restore-damaged = { $file } is damaged, or not whole ({ $what }), and nothing was changed
restore-foreign = { $file } is no backup of docsyncd, and nothing was changed
restore-encrypted = { $file } is encrypted, and nothing was changed: name the file with its passphrase (--passphrase-file)
restore-passphrase = { $file } cannot be decrypted with this passphrase, and nothing was changed
restore-no-age = { $file } is encrypted, and this docsyncd was built without encryption (the feature age). Nothing was changed
restore-place = { $file } cannot be put in its place: run the same command again with --force
restore-later = the ledger gets its place at the next start
move-runs = docsyncd runs, and nothing was changed: --stop stops its service first
move-not-stopped = docsyncd could not be stopped, and nothing was changed
move-moved = the ledger moved already, on { $time }. To take that back: { $back }
move-not-moved = the ledger has not moved, so there is nothing to take back
support-not-written = { $file } cannot be written (nothing was left there; docsyncd support --print shows the same and writes no file)
