import { openGate } from "./gate";
import { isTauri } from "./lib/api/shell";
import { HttpTransport, takeToken } from "./lib/api/http";
import { browserValues } from "./lib/state/pageValues";
import { preparePage, start } from "./start";

if (isTauri()) {
	const transport = new (await import("./lib/api/tauri")).TauriTransport();
	preparePage(transport);
	openGate(transport);
} else {
	const transport = new HttpTransport(takeToken());
	preparePage(transport);
	start(transport, browserValues);
}
