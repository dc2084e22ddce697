import type { Client } from '@rockpool/client';

declare global {
  /**
   * The app puts its client on the page's global for the curious and for support; see src/main.tsx. Never there in
   * Node.
   */
  var rockpool: Client;
}
