import { t } from "../i18n/i18n.svelte";
import type { App } from "../state/app.svelte";

/** Saves the card that is being edited, if it has a name, and says so. */
export async function saveEditor(app: App): Promise<void> {
	if (app.editor?.named && (await app.editor.save())) app.toasts.show({ kind: "news", text: t("editor.saved") }, 2_500);
}
