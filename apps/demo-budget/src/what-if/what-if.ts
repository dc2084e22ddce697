import type { Branch, Client } from '@rockpool/client';
import { createContext, useContext } from 'react';

/** A budget has at most one what-if on a device. */
export const whatIfName = 'what-if';

export interface WhatIf {
  readonly branch: Branch;
  /** Today's budget. */
  readonly today: Client;
  /** Called with `busy` before this tab ends the what-if, and with the error if that fails. */
  readonly onEnding: (ending: Ending) => void;
}

/** `busy` while this tab ends the what-if; the error if that failed; otherwise null. */
export type Ending = 'busy' | { readonly error: unknown } | null;

const WhatIfContext = createContext<WhatIf | null>(null);

export const WhatIfProvider = WhatIfContext.Provider;

export function useWhatIf(): WhatIf {
  const whatIf = useContext(WhatIfContext);
  if (whatIf === null) throw new Error('useWhatIf needs a <WhatIfFrame> ancestor');
  return whatIf;
}

export type End = 'taken-over' | 'thrown-away';
let lastEnd: End | null = null;

/** Stores how a what-if ended in this tab, for the page that is shown next. */
export function rememberEnd(end: End): void {
  lastEnd = end;
}

/** How the last what-if in this tab ended. Returned once. */
export function takeLastEnd(): End | null {
  const end = lastEnd;
  lastEnd = null;
  return end;
}
