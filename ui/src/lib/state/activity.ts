import type { Event } from "../api/generated";

/** Progress states between sending a message and the end of the reply. */
export type Activity =
	| { kind: "starting" }
	| { kind: "queued" }
	| { kind: "loading"; fraction: number }
	| { kind: "prefill"; done: number; total: number; reused: number }
	| { kind: "retrying"; attempt: number; afterMs: number; why: string }
	| { kind: "stalled"; seconds: number }
	| { kind: "tools"; names: string[] }
	| { kind: "asking" }
	| { kind: "writing" };

/** The activity that an event reports; `null` if it reports none. */
export function activityOf(event: Event): Activity | null {
	switch (event.event) {
		case "started":
		case "drafting":
			return { kind: "starting" };
		case "queued":
			return { kind: "queued" };
		case "loading":
			return { kind: "loading", fraction: event.fraction ?? 0 };
		case "prefill":
			return { kind: "prefill", done: event.done, total: event.total, reused: event.reused };
		case "retrying":
			return { kind: "retrying", attempt: event.attempt, afterMs: event.afterMs ?? 0, why: event.why };
		case "stalled":
			return { kind: "stalled", seconds: event.seconds };
		case "toolsUsed":
			return event.running ? { kind: "tools", names: event.rounds.at(-1)?.calls.map(({ name }) => name) ?? [] } : { kind: "starting" };
		case "toolAsked":
			return { kind: "asking" };
		case "token":
		case "thought":
		case "draft":
			return { kind: "writing" };
		default:
			return null;
	}
}

/** Progress from 0 to 1; `null` if unknown. */
export function progressOf(activity: Activity): number | null {
	if (activity.kind === "loading") return activity.fraction;
	if (activity.kind === "prefill" && activity.total > 0) return Math.min(1, activity.done / activity.total);
	return null;
}
