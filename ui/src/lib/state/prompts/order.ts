import type { SettingValue } from "../../api/generated";

/** The names in the value of an order setting. */
export const names = (value: SettingValue): string[] =>
	String(value)
		.split(",")
		.map((name) => name.trim())
		.filter(Boolean);

/** The order after `name` has moved to the index `to`. */
export function moved(order: string[], name: string, to: number): string[] {
	const others = order.filter((other) => other !== name);
	const at = Math.max(0, Math.min(to, others.length));
	return [...others.slice(0, at), name, ...others.slice(at)];
}
