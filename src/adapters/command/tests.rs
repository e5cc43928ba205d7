use super::*;

#[test]
fn the_last_words_are_few_short_clean_and_redacted_before_they_are_cut() {
    let lines: String = (0..30).map(|n| format!("line {n}\r\n\n")).collect();
    let words = last_lines(lines.as_bytes(), str::to_owned);
    assert!(words.starts_with("line 20 | ") && words.ends_with("line 29"), "{words}");
    assert_eq!(last_lines(b"\x1b[31mred\x07 \xff\n", str::to_owned), "[31mred \u{fffd}");
    assert_eq!(last_lines(b"", str::to_owned), "");

    let long = format!("Canaryworth{}", "é".repeat(496));
    let words = last_lines(long.as_bytes(), |text| text.replace("Canaryworth", "-"));
    assert!(words.len() <= MAX_LAST_BYTES && !words.contains("worth"), "{words}");
}

// The programs of these tests are shell scripts. What they show is not a matter of the system, except for process groups,
// which are jobs on Windows; what differs there is tried in the module `windows` below.
#[cfg(unix)]
mod unix {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::{OpenOptionsExt as _, symlink};
    use std::path::Path;
    use std::sync::Arc;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::adapters::contract::{CANARY, Place, Spool, assert_delivered, files_below, keeps_the_contract, reason};
    use crate::template::{Template, TemplateKind};

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
                name: "pms".into(),
                program: path("import").into(),
                args: all.map(compile).collect(),
                timeout: PATIENCE,
            };
            Self { folder, config }
        }

        fn adapter(&self) -> CommandAdapter {
            CommandAdapter::new(self.config.clone())
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
        assert_eq!(
            outcome_of("exit 0").await,
            Outcome::Delivered { place: "command pms".into(), file: None, found: false }
        );
        assert_eq!(
            outcome_of("echo busy >&2; exit 75").await,
            Outcome::Transient("`import` exited with 75 (try again later): busy".into())
        );
        assert_eq!(outcome_of("echo no >&2; exit 3").await, Outcome::Permanent("`import` exited with 3: no".into()));
        assert_eq!(outcome_of("exit 1").await, Outcome::Permanent("`import` exited with 1".into()));
        assert_eq!(outcome_of("kill -KILL $$").await, Outcome::Transient("`import` was ended by signal 9".into()));
    }

    #[tokio::test]
    async fn every_template_is_one_argument_whatever_stands_in_it() {
        let script = "for arg; do printf '<%s>' \"$arg\"; done > args; for out; do :; done; mv args \"$out/args\"";
        let program = Program::new(
            &format!("cd \"${{0%/*}}\"; {script}"),
            &["--x={{ patient.note }}", "", "{{ patient.x }}", "{{ file }}"],
        );
        let spool = Spool::new();
        let mut item = spool.item(1, PDF);
        item.metadata.patient.insert("note".into(), json!("a b; $(touch x) * \"q\" 'r' `s`"));
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
        item.metadata.patient.insert("odd".into(), json!("nul\0byte"));
        item.metadata.patient.insert("long".into(), json!("x".repeat(200_000)));
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
            "DOCSYNCD_DOCUMENT_NUMBER=1",
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
            item.metadata.patient.insert("long".into(), json!("x".repeat(1_000_000)));
            assert_delivered(&Program::new(script, &[]).adapter().deliver(&item).await);
        }
    }

    #[tokio::test]
    async fn much_output_neither_blocks_nor_fills_the_reason() {
        let flood = "yes out | head -c 1000000; yes flood | head -c 3000000 >&2; echo the end >&2; exit 3";
        let outcome = outcome_of(flood).await;
        let reason = reason(&outcome);
        assert!(reason.ends_with("flood | the end") && reason.len() < 1100, "{reason}");
        // One line without an end.
        let outcome = outcome_of("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 3").await;
        assert!(matches!(&outcome, Outcome::Permanent(reason) if reason.len() < 1100));
    }

    #[tokio::test]
    async fn what_could_identify_the_patient_is_taken_out_of_the_last_words() {
        let script = "echo \"no CANARYWORTH, $DOCSYNCD_PATIENT_FIRST_NAME, born $1 ($DOCSYNCD_PATIENT_DATE_OF_BIRTH)\" >&2; exit 3";
        let program = Program::new(script, &["{{ patient.dateOfBirth | date('%d.%m.%Y') }}"]);
        let outcome = program.deliver().await;
        assert_eq!(reason(&outcome), "`import` exited with 3: no [patient], [patient], born [argument] ([patient])");
        assert!(Spool::new().item(1, PDF).metadata.patient["lastName"] == CANARY);
    }

    /// Not one of the runtime's threads: its end is not waited for when the test failed.
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

    /// What it starts holds the fifo open, not the program itself.
    const WITH_A_CHILD: &str = "(exec 9>\"$1/fifo\"; exec sleep 1000) & wait";

    #[tokio::test]
    async fn out_of_time_the_program_and_what_it_started_are_killed() {
        let mut program = Program::new(WITH_A_CHILD, &[]);
        program.config.timeout = Duration::from_millis(700);
        let reader = open_without_waiting(&program.fifo());
        let outcome = timeout(program.deliver()).await;
        assert!(matches!(&outcome, Outcome::Transient(_)), "{outcome:?}");
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
        // Ends what was left behind.
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
            assert_eq!(broken.deliver().await, Outcome::Transient(complaint));
        }
        let mut found = Program::new("exit 0", &[]);
        found.config.program = "sh".into();
        found.adapter().check().await.unwrap();
        assert_delivered(&found.deliver().await);
    }

    #[test]
    fn what_the_system_refuses_to_start_is_no_fault_of_the_document_unless_its_arguments_are() {
        let of = |errno: rustix::io::Errno| not_started("pms", &errno.into());
        assert!(matches!(of(rustix::io::Errno::NOEXEC), Outcome::Transient(reason) if reason.contains("first line")));
        assert!(matches!(of(rustix::io::Errno::AGAIN), Outcome::Transient(_)));
        assert!(matches!(of(rustix::io::Errno::TOOBIG), Outcome::Permanent(_)));
    }
}

#[cfg(windows)]
mod windows {
    use std::sync::Arc;

    use super::*;
    use crate::adapters::contract::{Spool, reason};
    use crate::template::{Template, TemplateKind};

    const PATIENCE: Duration = Duration::from_secs(180);

    fn running(command: &str, timeout: Duration) -> CommandAdapter {
        let args = ["/D", "/C", command].map(|arg| Arc::new(Template::compile(TemplateKind::Argument, arg).unwrap()));
        // Without its extension: PATHEXT has it.
        CommandAdapter::new(CommandConfig { name: "pms".into(), program: "cmd".into(), args: args.to_vec(), timeout })
    }

    async fn outcome_of(command: &str) -> Outcome {
        let adapter = running(command, PATIENCE);
        adapter.check().await.unwrap();
        adapter.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await
    }

    #[tokio::test]
    async fn exit_codes_decide() {
        assert_eq!(
            outcome_of("exit 0").await,
            Outcome::Delivered { place: "command pms".into(), file: None, found: false }
        );
        assert!(matches!(outcome_of("exit 75").await, Outcome::Transient(_)));
        assert_eq!(outcome_of("exit 3").await, Outcome::Permanent("`cmd` exited with 3".into()));
        assert!(
            matches!(outcome_of("exit -1073741819").await, Outcome::Transient(_)),
            "an access violation is a crash"
        );
    }

    #[tokio::test]
    async fn a_program_that_is_out_of_time_is_killed_and_tried_again() {
        let outcome = running("ping -n 600 127.0.0.1 >nul", Duration::from_secs(1));
        let outcome = outcome.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await;
        assert!(matches!(&outcome, Outcome::Transient(_)), "{outcome:?}");
        assert!(reason(&outcome).contains("within 1 s"), "{outcome:?}");
    }

    /// Three processes, one started by the other: a script, the script that it calls, and the program that waits and
    /// holds a file open, so that it cannot be removed as long as that program lives.
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
        // Given up, as at the end of its time.
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
