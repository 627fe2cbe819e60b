const KEY = "inglenook.learned";

/** True once on this machine: the first time that a model has learned something, the user is told what that is (C30). */
export function takeFirstLearned(): boolean {
	if (localStorage.getItem(KEY) !== null) return false;
	localStorage.setItem(KEY, new Date().toISOString());
	return true;
}
