import type { Theme } from "../api/generated";
import { readableOn } from "./accent";
import { parseColor, type Rgb } from "./contrast";
import { DEFAULTS, readLook, type LookValues } from "./lookFile";
import type { PageValues } from "./pageValues";

export type { Face, Layout } from "./lookFile";
export { SIZES } from "./lookFile";

const KEY = "inglenook.look";
/** Width of the messages, in multiples of the text size. 35.5 are about 72 characters of the reading font. */
const WIDTHS = { narrow: 29, normal: 35.5, wide: 46 } as const;
const LINE_HEIGHTS = { tight: 1.45, normal: 1.6, loose: 1.85 } as const;
/** Width of the senders' pictures, in pixels. */
const AVATARS = { small: 28, normal: 36, large: 56 } as const;

/** Appearance of this window. The theme is a setting of the engine; this is a copy for the first frame. */
export class Look implements LookValues {
	theme = $state<Theme>(DEFAULTS.theme);
	face = $state(DEFAULTS.face);
	size = $state(DEFAULTS.size);
	layout = $state(DEFAULTS.layout);
	accent = $state(DEFAULTS.accent);
	width = $state(DEFAULTS.width);
	lineHeight = $state(DEFAULTS.lineHeight);
	avatars = $state(DEFAULTS.avatars);
	avatarSize = $state(DEFAULTS.avatarSize);
	/** The accent is shown lighter or darker than chosen, because text in it would be hard to read. */
	adjusted = $state(false);

	constructor(private readonly pageValues: PageValues) {
		Object.assign(this, DEFAULTS, readLook(stored(pageValues)));
		this.apply();
		// The test environment has no media queries.
		globalThis.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", () => this.apply());
	}

	get values(): LookValues {
		const { theme, face, size, layout, accent, width, lineHeight, avatars, avatarSize } = this;
		return { theme, face, size, layout, accent, width, lineHeight, avatars, avatarSize };
	}

	set(change: Partial<LookValues>): void {
		Object.assign(this, change);
		this.pageValues.set(KEY, JSON.stringify(this.values));
		this.apply();
	}

	private apply(): void {
		const { dataset, style } = document.documentElement;
		if (this.theme === "system") delete dataset.theme;
		else dataset.theme = this.theme;
		dataset.face = this.face;
		dataset.avatars = this.avatars;
		style.setProperty("--reading-size", `${this.size}px`);
		style.setProperty("--column", `calc(${WIDTHS[this.width]} * var(--reading-size))`);
		style.setProperty("--line-height", String(LINE_HEIGHTS[this.lineHeight]));
		style.setProperty("--avatar", `${AVATARS[this.avatarSize]}px`);
		this.applyAccent();
	}

	private applyAccent(): void {
		const { style } = document.documentElement;
		const wanted = this.accent === null ? null : parseColor(this.accent);
		if (!wanted) {
			style.removeProperty("--ember");
			style.removeProperty("--on-ember");
			this.adjusted = false;
			return;
		}
		const accent = readableOn(wanted, surfaces());
		style.setProperty("--ember", `rgb(${accent.color.join(" ")})`);
		style.setProperty("--on-ember", accent.on);
		this.adjusted = accent.color.join() !== wanted.join();
	}
}

/** The tokens for `wanted` as the accent of a part of the window, readable in the theme in use. */
export function accentStyle(wanted: Rgb | null): string {
	if (!wanted) return "";
	const { color, on } = readableOn(wanted, surfaces());
	return `--ember: rgb(${color.join(" ")}); --on-ember: ${on};`;
}

/** The surfaces of the theme in use, as colours. */
function surfaces(): Rgb[] {
	const probe = document.createElement("span");
	document.documentElement.append(probe);
	const read = (token: string) => {
		probe.style.color = `var(${token})`;
		return parseColor(getComputedStyle(probe).color);
	};
	const found = ["--surface-0", "--surface-1", "--surface-2"].map(read).filter((color) => color !== null);
	probe.remove();
	return found;
}

function stored(values: PageValues): unknown {
	try {
		return JSON.parse(values.get(KEY) ?? "{}");
	} catch {
		return {};
	}
}
