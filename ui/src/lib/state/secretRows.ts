/** A name with a secret value, such as a header or a variable. A stored value is never shown again. */
export interface SecretRow {
	name: string;
	value: string;
	/** A value is stored. It is kept while the field is empty. */
	stored: boolean;
}

export const hasValue = (rows: readonly SecretRow[]): boolean => rows.some(({ value }) => value !== "");

/**
 * Rows for names that come without values: from the engine, or from a draft, which never has a secret.
 * `typed` are rows whose values are still in memory. `stored` are the names with a stored value.
 */
export function namedRows(names: readonly string[], typed: readonly SecretRow[], stored: readonly string[]): SecretRow[] {
	const left = typed.filter(({ value }) => value !== "");
	return names.map((name) => {
		const at = left.findIndex((row) => row.name === name);
		const [row] = at < 0 ? [] : left.splice(at, 1);
		return { name, value: row?.value ?? "", stored: stored.includes(name) };
	});
}
