import type { Origin } from "../../api/generated";
import type { TextField } from "../fields";

/** A target for navigation from a prompt block. */
export type Target =
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

/** Editor field by the name that cards and the engine use. */
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

/** Id of the unsent message in a preview. */
const UNSENT = "00000000-0000-0000-0000-000000000000";

/** The target for an origin; `null` if there is none. */
export function targetOf(origin: Origin): Target | null {
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
		case "hint":
		case "client":
		case "builtIn":
			return null;
	}
}
