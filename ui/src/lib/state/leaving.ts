import type { Api } from "./api";
import { pendingSize, saveTyped } from "./keptForm.svelte";

/** Browsers let a request outlive its page only up to this size, with some room for the rest of the request. */
const OUTLIVES = 15_000;

/** Saves everything that was typed when the page is left: closed, reloaded or hidden. The returned function stops that. */
export function watchLeaving(api: Api): () => void {
	const stopWatching = api.shell.watchClosing(() => saveTyped(api, "closing"));
	const stop = new AbortController();
	const { signal } = stop;
	document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && void saveTyped(api, "hidden"), { signal });
	window.addEventListener(
		"beforeunload",
		(event) => {
			// A large text cannot be sent while the page goes. The browser's question gives it the time.
			if (pendingSize(api) > OUTLIVES) event.preventDefault();
			void saveTyped(api, "left");
		},
		{ signal },
	);
	window.addEventListener("pagehide", () => void saveTyped(api, "left"), { signal });
	return () => {
		stop.abort();
		stopWatching();
	};
}
