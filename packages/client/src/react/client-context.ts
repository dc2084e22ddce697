import { createContext, createElement, useContext, type Context, type ReactElement, type ReactNode } from 'react';
import type { Client } from '../client.ts';

// Undefined if there is no provider.
const ClientContext: Context<Client | null | undefined> = createContext<Client | null | undefined>(undefined);

export interface RockpoolProviderProps {
  /**
   * The client. It is created outside of rendering, and closed by the code that created it. Null while there is none:
   * on a server, and before it is open.
   */
  readonly client: Client | null;
  readonly children?: ReactNode;
}

/** Provides a client to the components below. */
export function RockpoolProvider({ client, children }: RockpoolProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** Returns the client of the nearest provider. Throws without a provider, and while the provider has no client. */
export function useClient(): Client {
  const client = useMaybeClient();
  if (client === null)
    throw new Error('useClient needs a client, but <RockpoolProvider> has none yet; use useMaybeClient');
  return client;
}

/** Returns null while the provider has no client. */
export function useMaybeClient(): Client | null {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error('this hook must run below a <RockpoolProvider client={…}>');
  return client;
}
