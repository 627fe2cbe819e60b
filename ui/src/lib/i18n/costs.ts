import type { Figures } from "../api/generated";
import { number, percent, seconds } from "./format";
import { t } from "./i18n.svelte";

/** The share of a prompt that was reused; `null` if unknown. */
export function reusedShare({ prompt, reused }: Pick<Figures, "prompt" | "reused">): number | null {
	return prompt && reused !== null ? reused / prompt : null;
}

/** What a call has cost, in a few words: its tokens, how many were known already, and the wait for the first word. */
export function costs(figures: Figures): string[] {
	const { prompt, firstTextMs } = figures;
	const share = reusedShare(figures);
	return [
		prompt === null ? "" : t("figures.tokens", { count: prompt, shown: number(prompt) }),
		share === null ? "" : t("figures.reused", { percent: percent(share) }),
		firstTextMs === null ? "" : seconds(firstTextMs),
	].filter(Boolean);
}
