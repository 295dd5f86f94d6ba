/**
 * Whether a database may be refusing writes. A caller that met a refusal raises the doubt; a successful trial write
 * settles it.
 */
export class WriteDoubt {
  private isOpen = false;

  get isRaised(): boolean {
    return this.isOpen;
  }

  raise(): void {
    this.isOpen = true;
  }

  settle(): void {
    this.isOpen = false;
  }
}
