import { isTauri } from "./lib/api/shell";
import { HttpTransport, takeToken } from "./lib/api/http";
import { start } from "./start";

const transport = isTauri() ? new (await import("./lib/api/tauri")).TauriTransport() : new HttpTransport(takeToken());
start(transport);
