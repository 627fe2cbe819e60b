/** Whether the page runs in the desktop window. Asked without importing Tauri, which a browser never loads. */
export function isTauri(): boolean {
	return "__TAURI_INTERNALS__" in window;
}
