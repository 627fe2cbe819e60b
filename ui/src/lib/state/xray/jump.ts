import type { Origin } from "../../api/generated";
import type { TextField } from "../fields";

/** Where a block can be looked at, or changed. */
export type Place =
	| { to: "card"; field: TextField | null }
	| { to: "chatText"; field: TextField | null }
	| { to: "lore"; entry: string }
	| { to: "memory"; id: string }
	| { to: "document"; id: string }
	| { to: "persona" }
	| { to: "message"; id: string }
	| { to: "template"; template: string; section: string }
	| { to: "mode"; name: string }
	| { to: "setting"; key: string };

/** The names that cards and the engine have for the fields of the editor. */
const FIELDS: Record<string, TextField> = {
	description: "description",
	personality: "personality",
	scenario: "scenario",
	first_mes: "firstMessage",
	firstMessage: "firstMessage",
	mes_example: "messageExamples",
	examples: "messageExamples",
	messageExamples: "messageExamples",
	system_prompt: "systemPrompt",
	systemPrompt: "systemPrompt",
	rules: "systemPrompt",
	post_history_instructions: "postHistoryInstructions",
	postHistory: "postHistoryInstructions",
	postHistoryInstructions: "postHistoryInstructions",
};

export function fieldOf(name: string): TextField | null {
	return FIELDS[name] ?? null;
}

/** Words of a preview, which are no message yet. */
const UNSENT = "00000000-0000-0000-0000-000000000000";

/** `null` where there is nothing to go to. */
export function placeOf(origin: Origin): Place | null {
	switch (origin.of) {
		case "card":
			return { to: "card", field: fieldOf(origin.field) };
		case "chatText":
			return { to: "chatText", field: fieldOf(origin.field) };
		case "lore":
			return { to: "lore", entry: origin.entry };
		case "memory":
			return { to: "memory", id: origin.id };
		case "persona":
			return { to: "persona" };
		case "message":
			return origin.id === UNSENT ? null : { to: "message", id: origin.id };
		case "older":
			return { to: "message", id: origin.last };
		case "template":
			return { to: "template", template: origin.template, section: origin.section };
		case "mode":
			return { to: "mode", name: origin.name };
		case "setting":
			return { to: "setting", key: origin.key };
		case "document":
			return { to: "document", id: origin.id };
		case "keyframe":
			return origin.first ? { to: "message", id: origin.first } : null;
		case "clock":
		case "builtIn":
			return null;
	}
}
