import type { Theme } from "../api/generated";

export type Face = "literata" | "system" | "atkinson";
export type Layout = "bubbles" | "document";

interface Stored {
	theme: Theme;
	face: Face;
	size: number;
	layout: Layout;
}

const KEY = "inglenook.look";
const DEFAULTS: Stored = { theme: "system", face: "literata", size: 16, layout: "bubbles" };

export const SIZES = [14, 15, 16, 17, 18, 20, 22] as const;

/** Appearance of this window. The engine stores the theme; localStorage has a copy for the first frame. */
export class Look {
	theme = $state<Theme>("system");
	face = $state<Face>("literata");
	size = $state(16);
	layout = $state<Layout>("bubbles");

	constructor() {
		Object.assign(this, DEFAULTS, read());
		this.apply();
	}

	set(change: Partial<Stored>): void {
		Object.assign(this, change);
		const { theme, face, size, layout } = this;
		localStorage.setItem(KEY, JSON.stringify({ theme, face, size, layout } satisfies Stored));
		this.apply();
	}

	private apply(): void {
		const { dataset, style } = document.documentElement;
		if (this.theme === "system") delete dataset.theme;
		else dataset.theme = this.theme;
		dataset.face = this.face;
		style.setProperty("--reading-size", `${this.size}px`);
	}
}

function read(): Partial<Stored> {
	try {
		return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Stored>;
	} catch {
		return {};
	}
}
