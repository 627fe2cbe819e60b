/** Whether the page runs in the desktop window. Reads a global, because browsers never load the Tauri modules. */
export function isTauri(): boolean {
	return "__TAURI_INTERNALS__" in window;
}
