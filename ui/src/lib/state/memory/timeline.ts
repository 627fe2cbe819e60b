import type { Keyframe, Memory } from "../../api/generated";

/** An item of the timeline: a memory, or a keyframe, which has the first sentences of a part of a chat. */
export type TimelineItem = Memory | Keyframe;

/** The timeline items of one month. */
export interface Month {
	/** Any time in the month, in ISO format. */
	at: string;
	items: TimelineItem[];
}

export function isKeyframe(item: TimelineItem): item is Keyframe {
	return "said" in item;
}

const since = (item: TimelineItem) => (isKeyframe(item) ? item.said : item.created);

/** Groups memories (by creation) and keyframes (by their end) by local month, the newest first. */
export function months(items: readonly TimelineItem[]): Month[] {
	const found = new Map<string, Month>();
	for (const item of items.toSorted((a, b) => Date.parse(since(b)) - Date.parse(since(a)))) {
		const at = since(item);
		const date = new Date(at);
		const key = `${date.getFullYear()}-${date.getMonth()}`;
		const month = found.get(key) ?? { at, items: [] };
		month.items.push(item);
		found.set(key, month);
	}
	return [...found.values()];
}
