use super::*;

#[cfg(unix)]
fn transient(code: Code, reason: &str) -> Outcome {
    Outcome::transient(code, reason)
}

fn permanent(code: Code, reason: &str) -> Outcome {
    Outcome::Permanent { code, reason: reason.to_owned() }
}

// The programs of these tests are shell scripts. The behaviour is the same on every system, except for process groups,
// which are jobs on Windows; the module `windows` below tests what differs there.
#[cfg(unix)]
mod unix {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::destinations::contract::{Place, Spool, assert_delivered, files_below, keeps_the_contract, reason};
    use crate::formats::template::{Template, TemplateKind};

    const PDF: &[u8] = b"%PDF-1.7 letter";
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A script, and a folder `out` that it may write into: its last argument.
    struct Program {
        folder: TempDir,
        config: CommandConfig,
    }

    impl Program {
        fn new(script: &str, args: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
            fs::create_dir(path("out")).unwrap();
            fs::write(path("script"), script).unwrap();
            // The shell under another name: a script that was just written cannot always be executed itself, because
            // another test's child may still hold it open for writing.
            symlink("/bin/sh", path("import")).unwrap();
            let (script, out) = (path("script"), path("out"));
            let all = [script.as_str()].into_iter().chain(args.iter().copied()).chain([out.as_str()]);
            let compile = |source| Arc::new(Template::compile(TemplateKind::Argument, source).unwrap());
            let config = CommandConfig {
                on_lost_reply: LostReply::Resend,
                name: "pms".into(),
                program: path("import").into(),
                args: all.map(compile).collect(),
                timeout: PATIENCE,
            };
            Self { folder, config }
        }

        fn adapter(&self) -> CommandAdapter {
            CommandAdapter::new(self.config.clone(), &self.path("ledger.sqlite3"))
        }

        async fn deliver(&self) -> Outcome {
            self.adapter().deliver(&Spool::new().item(1, PDF)).await
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn out(&self, name: &str) -> String {
            fs::read_to_string(self.path("out").join(name)).unwrap()
        }

        fn fifo(&self) -> PathBuf {
            let path = self.path("out").join("fifo");
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            path
        }
    }

    impl Place for Program {
        fn adapter(&self) -> Box<dyn Adapter> {
            Box::new(self.adapter())
        }

        fn objects(&self) -> BTreeMap<String, Vec<u8>> {
            files_below(&self.path("out"))
        }

        fn break_down(&self) {
            fs::remove_file(&self.config.program).unwrap();
        }
    }

    keeps_the_contract!(Program::new("cp \"$1\" \"$2/$DOCSYNCD_KEY\"", &["{{ file }}"]));

    async fn outcome_of(script: &str) -> Outcome {
        Program::new(script, &[]).deliver().await
    }

    #[tokio::test]
    async fn exit_codes_decide() {
        assert_eq!(outcome_of("exit 0").await, Outcome::delivered("command pms"));
        assert_eq!(
            outcome_of("echo busy > \"$DOCSYNCD_REASON_FILE\"; exit 75").await,
            transient(Code::Exit(75), "`import` exited with 75 (try again later): busy")
        );
        assert_eq!(outcome_of("echo no >&2; exit 3").await, permanent(Code::Exit(3), "`import` exited with 3"));
        assert_eq!(outcome_of("exit 1").await, permanent(Code::Exit(1), "`import` exited with 1"));
        assert_eq!(outcome_of("kill -KILL $$").await, transient(Code::Signal(9), "`import` was ended by signal 9"));
    }

    #[tokio::test]
    async fn what_a_program_did_before_it_was_ended_is_left_to_a_person_where_that_is_wanted() {
        let holding = |script: &str| {
            let mut program = Program::new(script, &[]);
            program.config.on_lost_reply = LostReply::Hold;
            program
        };
        let spool = Spool::new();
        let ended = holding("kill -KILL $$").adapter().deliver(&spool.item(1, PDF)).await;
        assert!(matches!(ended, Outcome::Held { .. }), "{ended:?}");
        // The program's own answer leaves no question.
        for (script, number) in [("exit 75", 2), ("exit 3", 3), ("exit 0", 4)] {
            let outcome = holding(script).adapter().deliver(&spool.item(number, PDF)).await;
            assert_eq!(outcome, outcome_of(script).await, "{script}");
        }
        // docsyncd was ended while the program ran: the program is not run again.
        let item = spool.item(5, PDF);
        spool.answer(Some(2));
        let program = holding("echo run >> \"$1/runs\"");
        assert!(matches!(program.adapter().deliver(&item).await, Outcome::Delivered { .. }));
        let again = program.adapter().deliver(&Item { uncertain: true, ..item }).await;
        assert!(matches!(again, Outcome::Held { .. }), "{again:?}");
        assert_eq!(program.out("runs"), "run\n");
        // If the ledger cannot record the intent, the program is not run at all.
        spool.answer(Some(0));
        let unrecorded = program.adapter().deliver(&spool.item(6, PDF)).await;
        assert_eq!((unrecorded, program.out("runs")), (Outcome::Unrecorded, "run\n".to_owned()));
    }

    #[tokio::test]
    async fn every_template_is_one_argument_whatever_stands_in_it() {
        let script = "for arg; do printf '<%s>' \"$arg\"; done > args; for out; do :; done; mv args \"$out/args\"";
        let program = Program::new(
            &format!("cd \"${{0%/*}}\"; {script}"),
            &["--x={{ patient.phone }}", "", "{{ patient.email }}", "{{ file }}"],
        );
        let spool = Spool::new();
        let mut item = spool.item(1, PDF);
        Arc::make_mut(&mut item.metadata).patient.insert("phone".into(), json!("a b; $(touch x) * \"q\" 'r' `s`"));
        assert_delivered(&program.adapter().deliver(&item).await);
        let file = item.pdf.path.display();
        let expected = format!("<--x=a b; $(touch x) * \"q\" 'r' `s`><><unknown><{file}>");
        assert!(program.out("args").starts_with(&expected), "{}", program.out("args"));
    }

    #[tokio::test]
    async fn the_metadata_arrives_as_json_and_as_variables() {
        let program = Program::new("cat > \"$1/json\"; env > \"$1/env\"", &[]);
        let spool = Spool::new();
        let mut item = spool.item(1, PDF);
        Arc::make_mut(&mut item.metadata).patient.insert("odd".into(), json!("nul\0byte"));
        Arc::make_mut(&mut item.metadata).patient.insert("long".into(), json!("x".repeat(200_000)));
        assert_delivered(&program.adapter().deliver(&item).await);

        let told: Value = serde_json::from_str(&program.out("json")).unwrap();
        assert_eq!(told["patient"], Value::Object(item.metadata.patient.clone()));
        assert_eq!(told["document"]["pdf"]["size"], json!(PDF.len()));
        for (field, expected) in
            [("account", "main"), ("destination", "pms"), ("key", &item.key), ("sha256", &item.pdf.sha256)]
        {
            assert_eq!(told[field], json!(expected), "{field}");
        }
        assert_eq!((&told["size"], &told["file"]), (&json!(PDF.len()), &json!(item.pdf.path)));

        let env = program.out("env");
        let file = item.pdf.path.display();
        for line in [
            &format!("DOCSYNCD_FILE={file}"),
            &format!("DOCSYNCD_KEY={}", item.key),
            "DOCSYNCD_SIZE=15",
            "DOCSYNCD_DESTINATION=pms",
            "DOCSYNCD_ACCOUNT=main",
            "DOCSYNCD_DOCUMENT_TYPE=lab_slip",
            "DOCSYNCD_DOCUMENT_AUDIO=1",
            "DOCSYNCD_DOCUMENT_PDF_SIZE=15",
            "DOCSYNCD_PATIENT_LAST_NAME=Canaryworth",
            "DOCSYNCD_USER_EMAIL=a@practice.test",
        ] {
            assert!(env.lines().any(|found| found == line), "{line} in {env}");
        }
        for absent in
            ["DOCSYNCD_PATIENT_EMAIL", "DOCSYNCD_PATIENT_ODD", "DOCSYNCD_PATIENT_LONG", "DOCSYNCD_DOCUMENT_PDF="]
        {
            assert!(!env.contains(absent), "{absent}");
        }
        assert!(env.contains("PATH="), "the rest of the environment is inherited");
    }

    #[tokio::test]
    async fn a_program_need_not_read_what_it_is_told() {
        for script in ["exit 0", "exec 0<&-; exit 0"] {
            let spool = Spool::new();
            let mut item = spool.item(1, PDF);
            Arc::make_mut(&mut item.metadata).patient.insert("long".into(), json!("x".repeat(1_000_000)));
            assert_delivered(&Program::new(script, &[]).adapter().deliver(&item).await);
        }
    }

    impl Program {
        /// The kept output for item 1.
        fn kept(&self) -> Option<String> {
            let uuid = Spool::new().item(1, PDF).uuid;
            let path = output_file(&self.path("ledger.sqlite3"), "pms", &uuid);
            let mode = fs::metadata(&path).ok()?.permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            Some(fs::read_to_string(path).unwrap())
        }
    }

    #[test]
    fn what_is_kept_of_a_document_is_found_whatever_its_destinations_were_called() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("ledger.sqlite3");
        let uuid = Spool::new().item(1, PDF).uuid;
        assert_eq!(output_files(&ledger, &uuid).unwrap(), Vec::<PathBuf>::new());
        let kept = [output_file(&ledger, "old", &uuid), output_file(&ledger, "pms", &uuid)];
        fs::create_dir(folder.path().join("output")).unwrap();
        kept.iter().for_each(|path| fs::write(path, "said").unwrap());
        fs::write(output_file(&ledger, "pms", &Spool::new().item(2, PDF).uuid), "said").unwrap();
        let mut found = output_files(&ledger, &uuid).unwrap();
        found.sort();
        assert_eq!(found, kept);
    }

    #[tokio::test]
    async fn what_a_program_writes_is_kept_here_bounded_and_quoted_nowhere() {
        let flood = "yes out | head -c 1000000; yes flood | head -c 3000000 >&2; echo the end >&2; \
                     test -e \"$1/good\" || exit 3";
        let program = Program::new(flood, &[]);
        assert_eq!(program.deliver().await, permanent(Code::Exit(3), "`import` exited with 3"));
        let kept = program.kept().unwrap();
        assert!(kept.len() == 64 * 1024 && kept.ends_with("flood\nthe end\n"), "{}", kept.len());
        assert_eq!(files_below(&program.path("output")).len(), 1, "the file for the reason is gone");
        // A run that ends well keeps nothing, and removes the output of an earlier one.
        fs::write(program.path("out/good"), "").unwrap();
        assert_delivered(&program.deliver().await);
        assert_eq!(program.kept(), None);
    }

    #[tokio::test]
    async fn a_reason_is_one_short_clean_line_that_the_program_wrote_for_it() {
        for (script, expected) in [
            ("printf '\\n \\033[31mno\\r\\n second' > \"$DOCSYNCD_REASON_FILE\"", ": [31mno"),
            (": > \"$DOCSYNCD_REASON_FILE\"", ""),
            ("rm \"$DOCSYNCD_REASON_FILE\"", ""),
            // It neither follows a link nor waits for a pipe.
            ("ln -sf /etc/passwd \"$DOCSYNCD_REASON_FILE\"", ""),
            ("rm \"$DOCSYNCD_REASON_FILE\"; mkfifo \"$DOCSYNCD_REASON_FILE\"", ""),
        ] {
            let outcome = timeout(Program::new(&format!("{script}; exit 3"), &[]).deliver()).await;
            assert_eq!(outcome, permanent(Code::Exit(3), &format!("`import` exited with 3{expected}")), "{script}");
        }
        let long = "yes é | tr -d '\\n' | head -c 100000 > \"$DOCSYNCD_REASON_FILE\"; exit 3";
        let outcome = outcome_of(long).await;
        assert!(reason(&outcome).ends_with("éé") && reason(&outcome).chars().count() < 230, "{outcome:?}");
    }

    #[tokio::test]
    async fn a_reason_file_of_a_run_that_was_cut_off_is_replaced() {
        let program = Program::new("test ! -s \"$DOCSYNCD_REASON_FILE\" || exit 4; exit 3", &[]);
        let key = Spool::new().item(1, PDF).key;
        fs::create_dir(program.path("output")).unwrap();
        fs::write(program.path("output").join(format!("{key}.reason")), "of the run before").unwrap();
        assert_eq!(program.deliver().await, permanent(Code::Exit(3), "`import` exited with 3"));
    }

    /// Not one of the runtime's threads: a failed test does not wait for its end.
    fn in_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> tokio::sync::oneshot::Receiver<T> {
        let (done, result) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || done.send(work()).ok());
        result
    }

    /// Reads until every process that holds the other end is gone.
    async fn all_writers_are_gone(mut reader: fs::File) {
        timeout(in_a_thread(move || reader.read_to_end(&mut Vec::new()).unwrap())).await.unwrap();
    }

    async fn timeout<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(PATIENCE, future).await.expect("hangs")
    }

    fn open_without_waiting(fifo: &Path) -> fs::File {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let reader = fs::OpenOptions::new().read(true).custom_flags(flags).open(fifo).unwrap();
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::empty()).unwrap();
        reader
    }

    /// The child holds the fifo open, not the program itself.
    const WITH_A_CHILD: &str = "(exec 9>\"$1/fifo\"; exec sleep 1000) & wait";

    #[tokio::test]
    async fn out_of_time_the_program_and_what_it_started_are_killed() {
        let mut program = Program::new(WITH_A_CHILD, &[]);
        program.config.timeout = Duration::from_millis(700);
        let reader = open_without_waiting(&program.fifo());
        let outcome = timeout(program.deliver()).await;
        assert!(matches!(&outcome, Outcome::Transient { .. }), "{outcome:?}");
        assert!(reason(&outcome).starts_with("`import` did not end within 0.7 s and was stopped"), "{outcome:?}");
        all_writers_are_gone(reader).await;
    }

    #[tokio::test]
    async fn a_delivery_that_is_given_up_leaves_nothing_running() {
        let program = Program::new(WITH_A_CHILD, &[]);
        let fifo = program.fifo();
        // Opening waits for the program to open the other end.
        let started = in_a_thread(move || fs::File::open(fifo).unwrap());
        let delivery = tokio::spawn(async move { program.deliver().await });
        let reader = timeout(started).await.unwrap();
        delivery.abort();
        assert!(delivery.await.unwrap_err().is_cancelled());
        all_writers_are_gone(reader).await;
    }

    #[tokio::test]
    async fn a_process_left_behind_that_holds_standard_error_is_not_waited_for() {
        let program = Program::new("cat < \"$1/fifo\" >&2 & exit 0", &[]);
        let fifo = program.fifo();
        assert_delivered(&timeout(program.deliver()).await);
        // Ends the processes that were left behind.
        timeout(in_a_thread(move || drop(fs::OpenOptions::new().write(true).open(fifo)))).await.unwrap();
    }

    #[tokio::test]
    async fn a_program_that_cannot_be_used_is_told_by_check_and_delivery_alike() {
        for (program, words) in [
            ("/nowhere/at/all", "does not exist"),
            ("surely-not-a-program-here", "PATH"),
            ("/", "does not exist"),
            ("/etc/passwd", "make it executable"),
        ] {
            let mut broken = Program::new("exit 0", &[]);
            broken.config.program = program.into();
            let complaint = broken.adapter().check().await.unwrap_err();
            assert!(complaint.contains(words) && complaint.contains("`pms`"), "{complaint}");
            assert_eq!(broken.deliver().await, transient(Code::word("program_unusable"), &complaint));
        }
        let mut found = Program::new("exit 0", &[]);
        found.config.program = "sh".into();
        found.adapter().check().await.unwrap();
        assert_delivered(&found.deliver().await);
    }

    #[test]
    fn what_the_system_refuses_to_start_is_no_fault_of_the_document_unless_its_arguments_are() {
        let of = |errno: rustix::io::Errno| not_started("pms", Path::new("/opt/pms/import"), &errno.into());
        let Outcome::Transient { reason, .. } = of(rustix::io::Errno::ACCESS) else { panic!() };
        let expected = format!("its program `/opt/pms/import` cannot be started{} (Permission denied", as_whom());
        assert!(reason.contains(&expected) && !reason.contains("Canary"), "{reason}");
        assert!(
            matches!(of(rustix::io::Errno::NOEXEC), Outcome::Transient { reason, .. } if reason.contains("first line"))
        );
        assert!(matches!(of(rustix::io::Errno::AGAIN), Outcome::Transient { .. }));
        assert!(matches!(of(rustix::io::Errno::TOOBIG), Outcome::Permanent { .. }));
    }
}

#[cfg(windows)]
mod windows {
    use std::sync::Arc;

    use super::*;
    use crate::destinations::contract::{Spool, reason};
    use crate::formats::template::{Template, TemplateKind};

    const PATIENCE: Duration = Duration::from_secs(180);

    fn running(command: &str, timeout: Duration) -> CommandAdapter {
        let args = ["/D", "/C", command].map(|arg| Arc::new(Template::compile(TemplateKind::Argument, arg).unwrap()));
        // Without its extension: PATHEXT has it.
        let config = CommandConfig {
            name: "pms".into(),
            program: "cmd".into(),
            args: args.to_vec(),
            timeout,
            on_lost_reply: LostReply::Resend,
        };
        let state = tempfile::tempdir().unwrap().keep();
        CommandAdapter::new(config, &state.join("ledger.sqlite3"))
    }

    async fn outcome_of(command: &str) -> Outcome {
        let adapter = running(command, PATIENCE);
        adapter.check().await.unwrap();
        adapter.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await
    }

    #[tokio::test]
    async fn exit_codes_decide() {
        assert_eq!(outcome_of("exit 0").await, Outcome::delivered("command pms"));
        assert!(matches!(outcome_of("exit 75").await, Outcome::Transient { .. }));
        assert_eq!(outcome_of("exit 3").await, permanent(Code::Exit(3), "`cmd` exited with 3"));
        assert_eq!(
            outcome_of("echo no>%DOCSYNCD_REASON_FILE%&exit 3").await,
            permanent(Code::Exit(3), "`cmd` exited with 3: no")
        );
        assert!(
            matches!(outcome_of("exit -1073741819").await, Outcome::Transient { .. }),
            "an access violation is a crash"
        );
    }

    #[tokio::test]
    async fn a_program_that_is_out_of_time_is_killed_and_tried_again() {
        let outcome = running("ping -n 600 127.0.0.1 >nul", Duration::from_secs(1));
        let outcome = outcome.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await;
        assert!(matches!(&outcome, Outcome::Transient { .. }), "{outcome:?}");
        assert!(reason(&outcome).contains("within 1 s"), "{outcome:?}");
    }

    /// Three processes: a script, the script that it calls, and the program that waits. The last one holds a file open,
    /// so that the file cannot be removed while the program lives.
    #[tokio::test]
    async fn what_a_program_started_is_killed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("waits.cmd"), "@ping -n 600 127.0.0.1 >\"%~dp0held\"\r\n").unwrap();
        std::fs::write(path("starts.cmd"), "@cmd /D /C \"%~dp0waits.cmd\"\r\n").unwrap();
        let adapter = running(path("starts.cmd").to_str().unwrap(), Duration::from_secs(3600));
        let spool = Spool::new();
        let item = spool.item(1, b"%PDF-1.7 letter");
        let begun = until(|| path("held").exists());
        tokio::select! {
            outcome = adapter.deliver(&item) => panic!("{outcome:?}"),
            () = begun => {}
        }
        // The delivery gives up, as at the end of its time.
        until(|| std::fs::remove_file(path("held")).is_ok()).await;
    }

    async fn until(reached: impl Fn() -> bool) {
        let polls = async {
            while !reached() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, polls).await.unwrap();
    }
}
