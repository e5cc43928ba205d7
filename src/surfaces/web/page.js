// Asks for the page again when something changed, and turns it grey when docsyncd answers no more. The page says all without it.
"use strict";

(() => {
  const main = document.querySelector("main");
  const silent = document.getElementById("silent");
  const said = document.getElementById("said");
  const HEARD = 40000; // docsyncd says every 14 seconds that all is as it was.
  const LOST = 8000; // A page is away for a moment while a changed configuration is loaded.
  let changes = null;
  let watch = 0;
  let lost = false;
  let later = 0;
  let busy = false;
  let again = false;
  const told = Date.now() + 15000; // What a button did is said until then; a change of the page after that takes it away.

  function expect(within) {
    clearTimeout(watch);
    watch = setTimeout(fallSilent, within);
  }

  function fallSilent() {
    document.body.classList.add("stale");
    silent.hidden = false;
    document.querySelector("link[rel=icon]").href = "/silent.svg";
    if (changes && changes.readyState === EventSource.CLOSED) listen();
    expect(HEARD);
  }

  function heard() {
    lost = false;
    expect(HEARD);
    silent.hidden = true;
    document.body.classList.remove("stale");
  }

  // Who types or chooses is not disturbed.
  function isUsed() {
    const used = document.activeElement;
    const typed = [...main.querySelectorAll("input[type=search], input[type=date], input[type=text]")].some((field) => field.value !== field.defaultValue);
    return typed || (main.contains(used) && /^(INPUT|SELECT)$/.test(used.tagName)) || !document.getSelection().isCollapsed;
  }

  const folds = () => [...main.querySelectorAll("details")];
  const foldName = (fold) => fold.closest("section").getAttribute("aria-labelledby");
  // What a link or button is about stays the same when the page is renewed.
  const about = (element) => element && element.tagName + (element.form || element).outerHTML;

  function renewIn(time) {
    clearTimeout(later);
    later = setTimeout(renew, time);
  }

  async function renew() {
    again = busy;
    if (busy) return;
    if (isUsed()) {
      renewIn(5000);
      return;
    }
    clearTimeout(later);
    later = 0;
    busy = true;
    try {
      const answer = await fetch(main.dataset.live, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.status);
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      renewIn(10000);
    }
    busy = false;
    if (again) renew();
  }

  // All but the time that says when it was true.
  function content(page) {
    const copy = page.cloneNode(true);
    copy.querySelectorAll(".as-of, .notice").forEach((part) => part.remove());
    return copy.innerHTML.trim();
  }
  let shown = content(main);

  function show(page) {
    const fresh = page.querySelector("main");
    if (!fresh || isUsed()) return;
    document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").getAttribute("href");
    if (content(fresh) === shown) {
      main.querySelector(".as-of").replaceWith(fresh.querySelector(".as-of"));
      return;
    }
    shown = content(fresh);
    const open = folds().filter((fold) => fold.open).map(foldName);
    const focus = main.contains(document.activeElement) ? about(document.activeElement) : null;
    const headline = main.querySelector("h1").textContent;
    const notice = Date.now() < told ? main.querySelector(".notice") : null;
    main.replaceChildren(...(notice ? [notice] : []), ...fresh.childNodes);
    for (const fold of folds()) fold.open ||= open.includes(foldName(fold));
    if (focus) [...main.querySelectorAll("a, button, summary")].find((element) => about(element) === focus)?.focus();
    document.title = page.title;
    const now = main.querySelector("h1").textContent;
    if (now !== headline) said.textContent = now;
  }

  function listen() {
    if (changes) changes.close();
    changes = new EventSource("/changes");
    // What changed before it listened, or while it could not, is asked for.
    changes.addEventListener("open", renew);
    changes.addEventListener("changed", () => {
      heard();
      renew();
    });
    changes.addEventListener("alive", (event) => {
      heard();
      if (!later) main.querySelector(".as-of time").textContent = event.data;
    });
    // The browser tries again and again: the first time counts.
    changes.addEventListener("error", () => {
      if (!lost) expect(LOST);
      lost = true;
    });
    expect(HEARD);
  }

  // A page that nobody sees costs nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(watch);
      changes.close();
    } else {
      listen();
    }
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const text = button.textContent;
    button.textContent = button.dataset.copied;
    setTimeout(() => (button.textContent = text), 2000);
  });

  // Whoever loads the page again is not told it again.
  if (location.search.includes("done=")) history.replaceState(null, "", main.dataset.live);
  document.documentElement.classList.add("script");
  listen();
})();
