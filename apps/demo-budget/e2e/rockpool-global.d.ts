import type { Client } from '@rockpool/client';

declare global {
  /** The app exposes its client as a page global, for support and experiments; see src/main.tsx. Undefined in Node. */
  var rockpool: Client;
}
