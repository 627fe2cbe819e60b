import type { TextField } from "../../lib/state/fields";

export const TABS = ["who", "scene", "instructions", "card"] as const;

export type EditorTab = (typeof TABS)[number];

/** The fields of each tab, with their heights in lines. A field of one line is a plain input. */
export const FIELDS: Record<EditorTab, readonly { field: TextField; lines: number }[]> = {
	who: [
		{ field: "name", lines: 1 },
		{ field: "nickname", lines: 1 },
		{ field: "description", lines: 10 },
		{ field: "personality", lines: 4 },
	],
	scene: [
		{ field: "scenario", lines: 4 },
		{ field: "firstMessage", lines: 8 },
		{ field: "messageExamples", lines: 8 },
	],
	instructions: [
		{ field: "systemPrompt", lines: 8 },
		{ field: "postHistoryInstructions", lines: 6 },
	],
	card: [
		{ field: "creator", lines: 1 },
		{ field: "characterVersion", lines: 1 },
		{ field: "creatorNotes", lines: 8 },
	],
};

/** The tab that contains a field. */
export function tabOf(field: TextField): EditorTab {
	return TABS.find((tab) => FIELDS[tab].some((row) => row.field === field)) ?? "who";
}
