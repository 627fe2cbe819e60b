import type { Api } from "./api";
import type { PageValues } from "./pageValues";
import { pendingSize, saveTyped } from "./keptForm.svelte";

/** Browsers let a request outlive its page only up to this size, with some room for the rest of the request. */
const OUTLIVES = 15_000;

/** Keys that were pressed before the close button may reach the page after it, so typing must rest for this time, in ms. */
const REST = 120;
/** Maximum time to wait for that, in ms. The app waits two seconds for everything. */
const MOST = 1_000;

/** Waits until nothing has been typed for a moment. */
async function typingRests(): Promise<void> {
	const began = performance.now();
	let last = began;
	const stop = new AbortController();
	document.addEventListener("input", () => (last = performance.now()), { capture: true, signal: stop.signal });
	for (let now = began; now - last < REST && now - began < MOST; now = performance.now()) {
		await new Promise((resolve) => setTimeout(resolve, REST - (now - last)));
	}
	stop.abort();
}

/** Saves everything that was typed when the page is left: closed, reloaded or hidden. The returned function stops that. */
export function watchLeaving(api: Api, values: PageValues): () => void {
	const stopWatching = api.shell.watchClosing(async () => {
		await typingRests();
		await Promise.all([saveTyped(api, "closing"), values.saved()]);
	});
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
