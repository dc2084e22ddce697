import { element, table } from './dom.ts';
import type { MakePanel } from './panel.ts';

const ROLE_WORDS = { leader: 'leads', follower: 'follows', none: 'neither leads nor follows' } as const;

/** The tabs that share the database. The leader holds the leader lock; the others queue for it. */
export const tabsPanel: MakePanel = (client) => ({
  title: 'Tabs',
  isLive: true,
  async draw(into) {
    const { held = [], pending = [] } = await navigator.locks.query();
    const leads = (name: string | undefined): boolean =>
      name?.startsWith(`rockpool:${client.name}:`) === true && name.endsWith(':leader');
    const rows = [
      ...held.filter(({ name }) => leads(name)).map(({ clientId }) => ['leads', clientId ?? null]),
      ...pending.filter(({ name }) => leads(name)).map(({ clientId }) => ['follows', clientId ?? null]),
    ];
    into.replaceChildren(
      element('p', '', `This tab ${ROLE_WORDS[client.status.current.role]}, on ${client.status.current.persistence}.`),
      table(['role', 'worker'], rows),
    );
  },
});
