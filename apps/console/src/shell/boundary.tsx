import { Component, type ReactNode } from 'react';
import { Button, Empty } from '../kit/kit.tsx';
import { ScreenHead } from './screen.tsx';

interface Props {
  /** Another one is drawn at another address. */
  readonly place: string;
  readonly children: ReactNode;
}

/** A screen that cannot be drawn takes neither Stop nor the way to the others with it. */
export class ScreenBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidUpdate({ place }: Props): void {
    if (this.state.hasFailed && place !== this.props.place) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        <ScreenHead title="This screen cannot be shown" />
        <Empty title="The Console met an error of its own">
          Nothing was changed by it. Read the page anew; if it comes again, go to another screen and tell your operator
          what you were looking at.
        </Empty>
        <Button onClick={() => location.reload()}>Reload</Button>
      </>
    );
  }
}
