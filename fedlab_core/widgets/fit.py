"""Charts that are as wide as the place they stand in."""

import anywidget
import traitlets


class Fit(anywidget.AnyWidget):
    """An invisible widget that tells the charts around it when there is more or less room.

    A FigureWidget is drawn before it has a place, 700 pixels wide, and looks again only when the window changes. This
    widget reports every change of the output it stands in as a change of the window.
    """

    _esm = traitlets.Unicode(
        """
        function render({ el }) {
          const observer = new ResizeObserver(() => window.dispatchEvent(new Event("resize")));
          const attach = () => {
            if (el.isConnected) observer.observe(el.closest(".jp-OutputArea-output") ?? el.parentElement);
            else requestAnimationFrame(attach);
          };
          attach();
          return () => observer.disconnect();
        }
        export default { render };
        """
    ).tag(sync=True)
