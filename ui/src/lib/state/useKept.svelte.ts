import { untrack } from "svelte";
import type { DraftPlace } from "../api/generated";
import { useApp } from "./context";
import { keptForm, type KeptForm } from "./keptForm.svelte";

/**
 * Keeps what is typed in the form of a component. Must be called while the component is created.
 *
 * `read` gives the whole form as a text, and `show` shows such a text. What was typed before and not saved is shown at once.
 */
export function useKept(place: DraftPlace, read: () => string, show: (text: string) => void): KeptForm {
	const app = useApp();
	const form = keptForm(app.api, place, show, app.fail);
	void form.restore(untrack(read));
	$effect(() => {
		const text = read();
		untrack(() => form.typed(text));
	});
	$effect(() => () => void form.now());
	return form;
}
