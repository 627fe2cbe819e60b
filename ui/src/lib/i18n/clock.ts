import { createSubscriber } from "svelte/reactivity";

/** Shown times such as "5 min" are renewed this often. */
const TICK_MS = 30_000;

const subscribe = createSubscriber((update) => {
	const timer = setInterval(update, TICK_MS);
	return () => clearInterval(timer);
});

/** The current time. A text that uses it is drawn again as time passes. */
export function now(): Date {
	subscribe();
	return new Date();
}
