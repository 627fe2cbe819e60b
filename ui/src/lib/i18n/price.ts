import type { ModelPrice } from "../api/generated";
import { number } from "./format";
import { t } from "./i18n.svelte";

/** The screen text of a price; empty if the endpoint reports none. */
export function priceText(price: ModelPrice | null): string {
	if (price === null || price.input === null || price.output === null) return "";
	return t("endpoint.price", { input: number(price.input, 2), output: number(price.output, 2) });
}
