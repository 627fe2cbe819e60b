/** Kinds of text that a script processes, with SillyTavern's numbers. */
export const PLACES = { user: 1, reply: 2, lore: 5, thoughts: 6 } as const;
export type ScriptPlace = keyof typeof PLACES;

/** The text that a script changes: the stored one, or only the displayed or the sent one. */
export const EFFECTS = ["stored", "shown", "sent", "shownAndSent"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The form fields of a regex script. */
export interface ScriptFields {
	name: string;
	find: string;
	replace: string;
	/** Texts removed from each match before it is inserted, one per line. */
	trim: string;
	places: ScriptPlace[];
	effect: Effect;
	onEdit: boolean;
	minDepth: number | null;
	maxDepth: number | null;
}

interface Json {
	scriptName?: string;
	findRegex?: string;
	replaceString?: string;
	trimStrings?: string[];
	placement?: number[];
	markdownOnly?: boolean;
	promptOnly?: boolean;
	runOnEdit?: boolean;
	minDepth?: number | null;
	maxDepth?: number | null;
}

const PLACE_NAMES = Object.keys(PLACES) as ScriptPlace[];

export function fieldsOf(json: string): ScriptFields {
	const script = JSON.parse(json) as Json;
	const placement = script.placement ?? [];
	return {
		name: script.scriptName ?? "",
		find: script.findRegex ?? "",
		replace: script.replaceString ?? "",
		trim: (script.trimStrings ?? []).join("\n"),
		places: PLACE_NAMES.filter((place) => placement.includes(PLACES[place])),
		effect: effectOf(script),
		onEdit: script.runOnEdit ?? false,
		minDepth: script.minDepth ?? null,
		maxDepth: script.maxDepth ?? null,
	};
}

/** `json` with the form's values. Values that the form does not show are kept. */
export function withFields(json: string, fields: ScriptFields): string {
	const before = JSON.parse(json) as Json;
	const known: number[] = Object.values(PLACES);
	const others = (before.placement ?? []).filter((number) => !known.includes(number));
	const after: Json = {
		...before,
		scriptName: fields.name.trim(),
		findRegex: fields.find,
		replaceString: fields.replace,
		trimStrings: fields.trim.split("\n").filter(Boolean),
		placement: [...fields.places.map((place) => PLACES[place]), ...others].sort((a, b) => a - b),
		markdownOnly: fields.effect === "shown" || fields.effect === "shownAndSent",
		promptOnly: fields.effect === "sent" || fields.effect === "shownAndSent",
		runOnEdit: fields.onEdit,
		minDepth: fields.minDepth,
		maxDepth: fields.maxDepth,
	};
	return JSON.stringify(after);
}

/** A new script: it processes replies, and changes only the display. */
export const NEW_SCRIPT = JSON.stringify({ scriptName: "", findRegex: "", replaceString: "", trimStrings: [], placement: [PLACES.reply], disabled: false, markdownOnly: true, promptOnly: false, runOnEdit: false, substituteRegex: 0, minDepth: null, maxDepth: null });

/** The script, enabled or disabled. */
export function enabled(json: string, on: boolean): string {
	return JSON.stringify({ ...(JSON.parse(json) as object), disabled: !on });
}

function effectOf({ markdownOnly = false, promptOnly = false }: Json): Effect {
	if (markdownOnly && promptOnly) return "shownAndSent";
	return markdownOnly ? "shown" : promptOnly ? "sent" : "stored";
}
