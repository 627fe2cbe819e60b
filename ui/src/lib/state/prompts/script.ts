/** Texts that a script works on, by SillyTavern's numbers. */
export const PLACES = { user: 1, reply: 2, lore: 5, thoughts: 6 } as const;
export type ScriptPlace = keyof typeof PLACES;

/** What a script changes: the stored text, or only what is shown or sent. */
export const EFFECTS = ["stored", "shown", "sent", "shownAndSent"] as const;
export type Effect = (typeof EFFECTS)[number];

/** A regex script as the form shows it. */
export interface ScriptFields {
	name: string;
	find: string;
	replace: string;
	/** Removed from what was found before it is put in; one on each line. */
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

/** `json` with the form's values in it; what the form does not show is kept. */
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

/** A new script: of replies, and of what is shown only. */
export const NEW_SCRIPT = JSON.stringify({ scriptName: "", findRegex: "", replaceString: "", trimStrings: [], placement: [PLACES.reply], disabled: false, markdownOnly: true, promptOnly: false, runOnEdit: false, substituteRegex: 0, minDepth: null, maxDepth: null });

/** The same script, running or not. */
export function enabled(json: string, on: boolean): string {
	return JSON.stringify({ ...(JSON.parse(json) as object), disabled: !on });
}

function effectOf({ markdownOnly = false, promptOnly = false }: Json): Effect {
	if (markdownOnly && promptOnly) return "shownAndSent";
	return markdownOnly ? "shown" : promptOnly ? "sent" : "stored";
}
