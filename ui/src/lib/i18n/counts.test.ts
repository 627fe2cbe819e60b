import { afterEach, expect, test } from "vitest";
import { countedBy } from "./counts";
import { setLanguage } from "./i18n.svelte";

afterEach(() => setLanguage("en"));

test("names the tokenizer, and its error if known", () => {
	expect(countedBy("o200k_base", 0.021)).toEqual(["Tokens counted with o200k_base", "off by 2% on average"]);
	expect(countedBy("tokenizer.json", null)).toEqual(["Tokens counted with tokenizer.json"]);
	expect(countedBy("estimate", null)).toEqual(["Tokens estimated: the model's tokenizer is not known"]);
	setLanguage("de");
	expect(countedBy("cl100k_base", 0.049)).toEqual(["Token mit cl100k_base gezählt", "im Durchschnitt 5\u00a0% Abweichung"]);
});
