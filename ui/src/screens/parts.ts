/** Screens that are not needed for the first picture of the window. Dialogs that take keys at once are not among them. */
export const parts = {
	books: () => import("./books/BooksScreen.svelte"),
	editor: () => import("./library/EditorScreen.svelte"),
	library: () => import("./library/LibraryScreen.svelte"),
	models: () => import("./models/ModelsScreen.svelte"),
	prompts: () => import("./prompts/PromptsScreen.svelte"),
	settings: () => import("./settings/SettingsScreen.svelte"),
	conversion: () => import("./settings/encryption/ConversionDialog.svelte"),
	help: () => import("./help/HelpDialog.svelte"),
};

/** Loads all parts one after the other, so that each opens at once later. A failure shows when its part is opened. */
export async function loadParts(): Promise<void> {
	for (const load of Object.values(parts)) await load().catch(() => undefined);
}
