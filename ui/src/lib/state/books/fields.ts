import type { LorebookEntry } from "../../api/generated";

/** The kind of input for a field of an entry. */
export type FieldKind = "line" | "switch" | "number" | "asSettings" | "position" | "role";

type Scalar = Exclude<keyof LorebookEntry, "id" | "title" | "enabled" | "content" | "keys" | "secondaryKeys" | "logic" | "selective" | "sources" | "characterFilter" | "triggers">;

export interface FieldSpec {
	readonly key: Scalar;
	readonly kind: FieldKind;
	/** The number may be empty, which differs from 0. */
	readonly empty?: boolean;
	/** The number may have a fraction. */
	readonly broken?: boolean;
	readonly min?: number;
	readonly max?: number;
}

/** Advanced fields of an entry, grouped by topic. */
export const GROUPS = [
	{
		name: "matching",
		fields: [
			{ key: "scanDepth", kind: "number", empty: true, min: 0, max: 1000 },
			{ key: "caseSensitive", kind: "asSettings" },
			{ key: "wholeWords", kind: "asSettings" },
			{ key: "useRegex", kind: "switch" },
			{ key: "vectorized", kind: "switch" },
		],
	},
	{
		name: "place",
		fields: [
			{ key: "position", kind: "position" },
			{ key: "depth", kind: "number", empty: true, min: 0 },
			{ key: "role", kind: "role" },
			{ key: "outlet", kind: "line" },
			{ key: "order", kind: "number", broken: true },
			{ key: "priority", kind: "number", empty: true, broken: true },
			{ key: "ignoreBudget", kind: "switch" },
		],
	},
	{
		name: "chance",
		fields: [
			{ key: "useProbability", kind: "switch" },
			{ key: "probability", kind: "number", empty: true, broken: true, min: 0, max: 100 },
			{ key: "group", kind: "line" },
			{ key: "groupOverride", kind: "switch" },
			{ key: "groupWeight", kind: "number", empty: true, min: 0 },
			{ key: "groupScoring", kind: "asSettings" },
		],
	},
	{
		name: "recursion",
		fields: [
			{ key: "excludeRecursion", kind: "switch" },
			{ key: "preventRecursion", kind: "switch" },
			{ key: "delayUntilRecursion", kind: "number", min: 0 },
		],
	},
	{
		name: "time",
		fields: [
			{ key: "sticky", kind: "number", empty: true, min: 0 },
			{ key: "cooldown", kind: "number", empty: true, min: 0 },
			{ key: "delay", kind: "number", empty: true, min: 0 },
		],
	},
] as const satisfies readonly { name: string; fields: readonly FieldSpec[] }[];

export const POSITIONS = ["beforeCharacter", "afterCharacter", "beforeExamples", "afterExamples", "noteTop", "noteBottom", "atDepth", "outlet"] as const;
export const ROLES = ["system", "user", "character"] as const;
export const LOGICS = ["andAny", "andAll", "notAny", "notAll"] as const;
export const SOURCES = ["persona", "description", "personality", "scenario", "depthPrompt", "creatorNotes"] as const;
export const TRIGGERS = ["normal", "continue", "swipe", "regenerate", "impersonate", "quiet"] as const;

/** Default values of a new entry. */
export const NEW_ENTRY: LorebookEntry = {
	id: "",
	title: "",
	enabled: true,
	constant: false,
	keys: [],
	secondaryKeys: [],
	selective: true,
	logic: "andAny",
	useRegex: false,
	caseSensitive: null,
	wholeWords: null,
	scanDepth: null,
	sources: { persona: false, description: false, personality: false, depthPrompt: false, scenario: false, creatorNotes: false },
	vectorized: false,
	content: "",
	order: 100,
	priority: null,
	position: "beforeCharacter",
	depth: null,
	role: "system",
	outlet: "",
	useProbability: true,
	probability: 100,
	group: "",
	groupOverride: false,
	groupWeight: null,
	groupScoring: null,
	excludeRecursion: false,
	preventRecursion: false,
	delayUntilRecursion: 0,
	ignoreBudget: false,
	sticky: null,
	cooldown: null,
	delay: null,
	characterFilter: null,
	triggers: [],
};

/** Splits a text into one key per line. Commas do not separate keys, because a pattern may contain them. */
export function lines(text: string): string[] {
	return text.split("\n").map((line) => line.trim()).filter(Boolean);
}
