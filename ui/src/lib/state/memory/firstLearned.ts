import type { PageValues } from "../pageValues";

const KEY = "inglenook.learned";

/** Returns true once per data folder or browser, when a model learns something for the first time, so that the app can explain it. */
export function takeFirstLearned(values: PageValues): boolean {
	if (values.get(KEY) !== null) return false;
	values.set(KEY, new Date().toISOString());
	return true;
}
