import type { Theme } from "../api/generated";
import { parseColor } from "./contrast";

export const THEMES = ["system", "light", "dark", "contrast"] as const satisfies readonly Theme[];
export const FACES = ["literata", "system", "atkinson"] as const;
export const SIZES = [14, 15, 16, 17, 18, 20, 22] as const;
export const LAYOUTS = ["bubbles", "document"] as const;
export const WIDTH_NAMES = ["narrow", "normal", "wide"] as const;
export const LINE_HEIGHT_NAMES = ["tight", "normal", "loose"] as const;
export const AVATAR_SHAPES = ["round", "square", "tall", "hidden"] as const;
export const AVATAR_SIZES = ["small", "normal", "large"] as const;

export type Face = (typeof FACES)[number];
export type Layout = (typeof LAYOUTS)[number];

/** Everything that a theme file may contain. */
export interface LookValues {
	theme: Theme;
	face: Face;
	/** Text size of the messages, in pixels. */
	size: number;
	layout: Layout;
	/** `#rrggbb`; `null` is the standard colour of the theme. */
	accent: string | null;
	width: (typeof WIDTH_NAMES)[number];
	lineHeight: (typeof LINE_HEIGHT_NAMES)[number];
	avatars: (typeof AVATAR_SHAPES)[number];
	avatarSize: (typeof AVATAR_SIZES)[number];
}

export const DEFAULTS: LookValues = {
	theme: "system",
	face: "literata",
	size: 16,
	layout: "bubbles",
	accent: null,
	width: "normal",
	lineHeight: "normal",
	avatars: "round",
	avatarSize: "normal",
};

/** Marks theme files of this app. */
const KIND = "inglenook-theme";
/** Maximum size of a theme file, in bytes. */
export const MAX_THEME_FILE = 16_384;

/** The known values in `raw`. Everything else, such as CSS, is left out. */
export function readLook(raw: unknown): Partial<LookValues> {
	if (typeof raw !== "object" || raw === null) return {};
	const given = raw as Record<string, unknown>;
	const one = <T>(key: keyof LookValues, all: readonly T[]): Record<string, T> => {
		const found = all.find((value) => value === given[key]);
		return found === undefined ? {} : { [key]: found };
	};
	const isAccent = given.accent === null || (typeof given.accent === "string" && given.accent.startsWith("#") && parseColor(given.accent) !== null);
	return {
		...one("theme", THEMES),
		...one("face", FACES),
		...one("size", SIZES),
		...one("layout", LAYOUTS),
		...one("width", WIDTH_NAMES),
		...one("lineHeight", LINE_HEIGHT_NAMES),
		...one("avatars", AVATAR_SHAPES),
		...one("avatarSize", AVATAR_SIZES),
		...(isAccent ? { accent: given.accent as string | null } : {}),
	};
}

export function writeThemeFile(values: LookValues): string {
	return `${JSON.stringify({ kind: KIND, version: 1, ...values }, null, "\t")}\n`;
}

/** The values of a theme file; `null` if it is none. Values that are out of range keep what is set. */
export function readThemeFile(text: string): Partial<LookValues> | null {
	if (text.length > MAX_THEME_FILE) return null;
	try {
		const raw: unknown = JSON.parse(text);
		return typeof raw === "object" && raw !== null && (raw as { kind?: unknown }).kind === KIND ? readLook(raw) : null;
	} catch {
		return null;
	}
}
