import {
  type ContainerRuntimeClient,
  GenericContainer,
  getContainerRuntimeClient,
  getReaper,
  ImageName,
} from 'testcontainers';
import { composeFile } from './compose-file.js';
import { freePort } from './free-port.js';
import { nodeState, untilServed } from './kurrent-program.js';
import type { KurrentLogUnderTest } from './kurrent-under-test.js';

const PORT = 2113;
const START_TIMEOUT_MS = 120_000;
const FETCH_TIMEOUT_MS = 300_000;
/** In a container as on a machine: one node, on disk, without TLS. */
const SETTINGS = {
  KURRENTDB_INSECURE: 'true',
  KURRENTDB_NODE_IP: '0.0.0.0',
  KURRENTDB_RUN_PROJECTIONS: 'None',
  KURRENTDB_DISABLE_LOG_FILE: 'true',
  KURRENTDB_TELEMETRY_OPTOUT: 'true',
};

/** The one that a deployment gets. */
export const kurrentImage = (): string => {
  const { image } = composeFile('docker-compose.distributed.yml').services['kurrentdb'] ?? {};
  if (image === undefined) throw new Error('docker-compose.distributed.yml names no image of KurrentDB');
  return image;
};

/** Null where a server can be started; otherwise why not. The image is fetched where it is missing. */
export const missingForContainer = async (): Promise<string | null> => {
  const image = kurrentImage();
  let engine: ContainerRuntimeClient;
  try {
    engine = await getContainerRuntimeClient();
  } catch {
    return 'no container engine answers';
  }
  try {
    const name = ImageName.fromString(image);
    if (!(await engine.image.exists(name))) await inTime(engine.image.pull(name));
    // It removes what a killed test leaves, and comes in an image of its own.
    await inTime(getReaper(engine));
    return null;
  } catch (error) {
    return `a server in a container cannot be had: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const inTime = (fetching: Promise<unknown>): Promise<unknown> => {
  const limit = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const late = new Promise((_, reject) => {
    limit.addEventListener('abort', () => reject(new Error(`it took more than ${FETCH_TIMEOUT_MS / 1_000} s`)));
  });
  return Promise.race([fetching, late]);
};

/** A real KurrentDB of the test's own, on a port that stays the same. */
export class KurrentContainer implements KurrentLogUnderTest {
  private constructor(
    private readonly container: ReturnType<ContainerRuntimeClient['container']['getById']>,
    private readonly port: number,
    private readonly remove: () => Promise<unknown>,
  ) {}

  static async start(): Promise<KurrentContainer> {
    const port = await freePort();
    const started = await new GenericContainer(kurrentImage())
      .withEnvironment(SETTINGS)
      .withExposedPorts({ container: PORT, host: port })
      .withStartupTimeout(START_TIMEOUT_MS)
      .start();
    const engine = await getContainerRuntimeClient();
    const server = new KurrentContainer(engine.container.getById(started.getId()), port, () =>
      started.stop({ timeout: 0 }),
    );
    await server.untilLeader();
    return server;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  async start(): Promise<void> {
    await this.container.start();
    await this.untilLeader();
  }

  async kill(): Promise<void> {
    await this.container.kill({ signal: 'SIGKILL' });
    await this.container.wait();
  }

  async terminate(): Promise<void> {
    await this.container.stop();
  }

  async hang(): Promise<void> {
    await this.container.pause();
  }

  async resume(): Promise<void> {
    const { State } = await this.container.inspect();
    if (State.Paused) await this.container.unpause();
  }

  /** Its files are in the container. */
  backUp(): Promise<null> {
    return Promise.resolve(null);
  }

  async close(): Promise<void> {
    await this.remove();
  }

  private untilLeader(): Promise<unknown> {
    return untilServed('KurrentDB in its container does not lead', async () =>
      (await nodeState(this.port)) === 'leader' ? true : null,
    );
  }
}
