import { t } from "../i18n/i18n.svelte";
import { highlight } from "./highlight";
import type { Extras as Wanted } from "./markdown";

type Typeset = typeof import("./typeset").typeset;

/** Formulas and syntax colours. Their code loads with the first message that needs it. */
class Extras implements Wanted {
	/** Increases after each load, so that messages render again. */
	version = $state(0);
	#typeset: Typeset | null = null;
	#asked = false;

	/** Returns `null` if the formula is shown as source instead. */
	formula = (tex: string, display: boolean): string | null => {
		if (this.#typeset) return this.#typeset(tex, display);
		if (!this.#asked) void this.loadMath();
		return null;
	};

	code = (code: string, language: string): string | null => highlight(code, language, this.#came);

	copy = (): string => t("chat.copyCode");

	async loadMath(): Promise<void> {
		this.#asked = true;
		const module = await import("./typeset").catch(() => null);
		if (!module) return;
		this.#typeset = module.typeset;
		this.#came();
	}

	#came = (): void => {
		this.version += 1;
	};
}

export const extras = new Extras();
