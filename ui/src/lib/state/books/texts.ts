import { t } from "../../i18n/i18n.svelte";

/** Maps the engine's exclusion rules to the i18n keys that explain them. */
const RULES = {
	disabled: "disabled",
	trigger: "trigger",
	character_filter: "filter",
	tag_filter: "filter",
	delay: "delay",
	cooldown: "cooldown",
	delay_until_recursion: "recursion",
	recursion_level: "recursion",
	exclude_recursion: "recursion",
	no_keys: "noKeys",
	key_not_found: "notFound",
	secondary_keys: "secondary",
	additional_keys: "secondary",
	exclude_keys: "secondary",
	group: "group",
	probability: "probability",
	budget: "budget",
	book_budget: "budget",
} as const;

/** Screen text for why an entry is not used. All decorator rules share one text. */
export function rule(name: string): string {
	return t(`books.rule.${name in RULES ? RULES[name as keyof typeof RULES] : "decorator"}`);
}
