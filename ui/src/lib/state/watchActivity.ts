/** Time between two reports, in ms. The shortest time until the app locks itself is a minute. */
const PAUSE = 15_000;

/** Reports input of the user, at most once in 15 seconds, until the returned function is called. */
export function watchActivity(report: () => Promise<unknown>, page: Pick<Window, "addEventListener"> = window): () => void {
	const stop = new AbortController();
	let last = -Infinity;
	const seen = () => {
		const now = performance.now();
		if (now - last < PAUSE) return;
		last = now;
		// Without the report, the app only locks itself earlier.
		report().catch(() => {});
	};
	for (const name of ["keydown", "pointerdown", "wheel"]) page.addEventListener(name, seen, { capture: true, passive: true, signal: stop.signal });
	return () => stop.abort();
}
