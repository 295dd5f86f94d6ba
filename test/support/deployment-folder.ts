import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentWith } from './environment.js';
import { runAgs } from './run-ags.js';
import { temporaryStateDir } from './service.js';

/** A deployment that `ags init` has prepared, and state directories for machines of its own: they share the key files alone. */
export class DeploymentFolder {
  private constructor(
    /** Every state directory is in it. */
    readonly path: string,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly prepared: Readonly<Record<string, unknown>>,
  ) {}

  static async prepare(settings: Readonly<Record<string, string>>): Promise<DeploymentFolder> {
    const path = await temporaryStateDir();
    const env = environmentWith({ ...settings, SERVICE_STATE_DIR: operatorsIn(path) });
    const { code, objects, stderr } = await runAgs(['init', '--json'], { env });
    if (code !== 0) throw new Error(`ags init ended with ${code}: ${stderr}`);
    return new DeploymentFolder(path, settings, objects.at(-1) ?? {});
  }

  get org(): string {
    return String(this.prepared['org']);
  }
  get adminKey(): string {
    return String(this.prepared['admin_key']);
  }
  get agentKey(): string {
    return String(this.prepared['agent_key']);
  }
  get pin(): string {
    return String(this.prepared['seal_key_fingerprint']);
  }
  /** Of whoever works on the command line. */
  get environment(): NodeJS.ProcessEnv {
    return environmentWith({ ...this.settings, SERVICE_STATE_DIR: operatorsIn(this.path) });
  }

  stateDirOf(machine: string): string {
    return join(this.path, machine);
  }

  /** Of a process there; makes its state directory. */
  async environmentOf(machine: string): Promise<NodeJS.ProcessEnv> {
    const stateDir = this.stateDirOf(machine);
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const keys = join(operatorsIn(this.path), 'keys');
    return environmentWith({
      ...this.settings,
      SERVICE_STATE_DIR: stateDir,
      SERVICE_VAULT_KEY_FILE: join(keys, 'vault.key'),
      SERVICE_PEPPER_FILE: join(keys, 'pepper.key'),
      SERVICE_PORT: '0',
    });
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** The key files are in it. */
const operatorsIn = (path: string): string => join(path, 'operator');
