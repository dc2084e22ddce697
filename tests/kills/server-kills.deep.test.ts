import { beforeEach, expect, it } from 'vitest';
import { killServer } from './server-kills.ts';
import { canMountDisk, SmallDisk } from './small-disk.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/** ROCKPOOL_KILLS reduces the number, for a quick try. */
const KILLS = Number(process.env['ROCKPOOL_KILLS'] ?? 200);
const FULL_DISK_KILLS = Math.ceil(KILLS / 4);
const DISK_MIB = 24;

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

it(
  `${KILLS} kills of a server lose nothing that real clients wrote, and repeat nothing`,
  { timeout: 60 * 60_000 },
  async () => {
    const { written, acknowledgedBeforeEnd, faults } = await killServer({ folder, kills: KILLS });
    console.log(
      `${KILLS} kills: ${written} transactions of 3 clients, ${acknowledgedBeforeEnd} acknowledged before the last kill`,
    );
    expect(faults).toEqual([]);
  },
);

it.runIf(canMountDisk)(
  `${FULL_DISK_KILLS} kills of a server whose disk is full lose nothing, and repeat nothing`,
  { timeout: 60 * 60_000 },
  async () => {
    const disk = new SmallDisk(folder, DISK_MIB);
    let timesFull = 0;
    try {
      const { written, acknowledgedBeforeEnd, faults } = await killServer({
        folder,
        kills: FULL_DISK_KILLS,
        beforeKill: async (_kill, _server, clients) => {
          disk.fill();
          // The clients notice the full disk when they continue to write.
          await Promise.any(
            clients.map(
              (client) =>
                new Promise<void>((resolve) =>
                  client.status.subscribe(({ reason }) => reason?.code === 'server-disk-full' && resolve()),
                ),
            ),
          );
          timesFull++;
        },
        afterKill: () => disk.empty(),
      });
      console.log(
        `${FULL_DISK_KILLS} kills on a full disk: ${written} transactions of 3 clients, ${acknowledgedBeforeEnd} acknowledged before the last kill`,
      );
      expect(faults).toEqual([]);
      expect(timesFull).toBe(FULL_DISK_KILLS);
    } finally {
      disk.remove();
    }
  },
);
