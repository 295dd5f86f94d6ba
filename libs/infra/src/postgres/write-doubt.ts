/** Whether a database takes writes. Raised by whoever met a refusal, and settled by whoever has tried. */
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
