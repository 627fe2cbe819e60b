import type { PageValue } from "../../src/lib/api/generated";

/** The choices that the page keeps in the data folder. */
export class MockPageValues {
	readonly stored = new Map<string, string>();

	op_page_values = (): PageValue[] => [...this.stored].map(([key, value]) => ({ key, value }));
	op_save_page_value = ({ key, value }: { key: string; value: string | null }): void => {
		if (value === null) this.stored.delete(key);
		else this.stored.set(key, value);
	};
}
