import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-port.js';
import { type KurrentPlace, KurrentProgram, untilServed } from './kurrent-program.js';

const NODES = 3;
/**
 * What the nodes know of each other is told more often than by default, so that a new leader is found soon. When a leader
 * counts as lost stays as the server comes.
 */
const CLUSTER_OPTIONS = [
  `--cluster-size=${NODES}`,
  '--discover-via-dns=false',
  '--gossip-interval-ms=300',
  '--gossip-timeout-ms=1000',
];

const isLeader = async (node: KurrentProgram): Promise<boolean> => node.isRunning && (await node.state()) === 'leader';

/** Three real nodes that choose their leader, each restarted by a supervisor where it ends to join a new one. */
export class KurrentCluster {
  private constructor(
    readonly nodes: readonly KurrentProgram[],
    private readonly folder: string,
  ) {}

  static async start(program: string): Promise<KurrentCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'ags-kurrent-cluster-'));
    const ports = await freePorts(2 * NODES);
    const places = Array.from({ length: NODES }, (_, index): KurrentPlace => {
      const [port, replicationPort] = ports.slice(2 * index) as [number, number];
      return { port, replicationPort, folder: join(folder, String(index + 1)) };
    });
    const nodes = places.map((place) => {
      const others = places.filter((other) => other !== place).map(({ port }) => `127.0.0.1:${port}`);
      const options = [...CLUSTER_OPTIONS, `--gossip-seed=${others.join(',')}`];
      return new KurrentProgram(program, place, { options, isSupervised: true });
    });
    const cluster = new KurrentCluster(nodes, folder);
    await cluster.start();
    return cluster;
  }

  get url(): string {
    return `esdb://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`;
  }

  /** Whichever node does not run is started, with what is on its disk. Resolves when one leads and the others follow it. */
  async start(): Promise<void> {
    for (const node of this.nodes) if (!node.isRunning) node.launch();
    await this.whole();
  }

  /** One leads, and the others follow it. */
  async whole(): Promise<void> {
    const wanted = ['leader', ...Array.from({ length: NODES - 1 }, () => 'follower')].toSorted().join();
    await untilServed('the cluster is not whole', async () => {
      const states = await Promise.all(this.nodes.map((node) => node.state()));
      return states.toSorted().join() === wanted ? true : null;
    });
  }

  /** @param among which of the nodes are asked; all of them unless said */
  leader(among: readonly KurrentProgram[] = this.nodes): Promise<KurrentProgram> {
    return untilServed('no node leads', async () => {
      const leads = await Promise.all(among.map(isLeader));
      return among.find((_, index) => leads[index]) ?? null;
    });
  }

  /** Whoever leads when the node does not. */
  successorOf(node: KurrentProgram): Promise<KurrentProgram> {
    return this.leader(this.nodes.filter((other) => other !== node));
  }

  /** For good. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }
}
