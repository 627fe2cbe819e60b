import type { Event } from "../api/generated";

/** What goes on between send and the end of a reply. */
export type Activity =
	| { kind: "starting" }
	| { kind: "queued" }
	| { kind: "loading"; fraction: number }
	| { kind: "prefill"; done: number; total: number; reused: number }
	| { kind: "retrying"; attempt: number; afterMs: number; why: string }
	| { kind: "stalled"; seconds: number }
	| { kind: "writing" };

/** The activity that an event tells of, if it tells of one. */
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
		case "token":
		case "thought":
		case "draft":
			return { kind: "writing" };
		default:
			return null;
	}
}

/** How far it is, 0 to 1; `null` when nobody knows. */
export function progressOf(activity: Activity): number | null {
	if (activity.kind === "loading") return activity.fraction;
	if (activity.kind === "prefill" && activity.total > 0) return Math.min(1, activity.done / activity.total);
	return null;
}
