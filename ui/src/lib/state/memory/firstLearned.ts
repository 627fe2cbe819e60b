const KEY = "inglenook.learned";

/** Returns true once per machine, when a model learns something for the first time, so that the app can explain it. */
export function takeFirstLearned(): boolean {
	if (localStorage.getItem(KEY) !== null) return false;
	localStorage.setItem(KEY, new Date().toISOString());
	return true;
}
