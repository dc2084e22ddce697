import { createTab, tabFailureOf } from './tab-commands.ts';
import type { TabCommands, TabTools } from './tab-commands.ts';

/** A tab under a test's control, in this process or in a worker of its own. Its commands reject with a `TabFailure`. */
export interface ContractTab {
  call<K extends keyof TabCommands>(command: K, ...parameters: Parameters<TabCommands[K]>): ReturnType<TabCommands[K]>;
  /** Ends the tab without closing anything. */
  terminate(): void;
}

/** A tab in this process, for media that need no worker. */
export function localTab(tools: TabTools, terminate: () => void): ContractTab {
  const commands = createTab(tools);
  return {
    terminate,
    call(command, ...parameters) {
      const run = commands[command] as (...parameters: unknown[]) => Promise<unknown>;
      return run(...parameters).catch((error: unknown) => {
        throw tabFailureOf(error);
      }) as ReturnType<TabCommands[typeof command]>;
    },
  };
}
