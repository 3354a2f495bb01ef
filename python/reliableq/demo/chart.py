"""The sums as a chart in the terminal, and as a picture."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from reliableq.demo.orders import Total

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 40
"""Characters of the longest bar."""

BLUE, ORANGE = "#0072b2", "#d55e00"
"""Two of Okabe and Ito's colours, which all eyes tell apart."""

GREY, PALE = "#595959", "#e3e3e3"


def lines(totals: Iterable[Total]) -> list[str]:
    """A bar for each product, the largest first."""
    sales = _by_product(totals)
    longest = max(cents for _, cents in sales)
    return [
        f"     {product:>9} | {'#' * round(BAR * cents / longest):<{BAR}} {cents / 100:>9,.2f} EUR"
        for product, cents in sales
    ]


def draw(totals: list[Total], path: Path) -> bool:
    """Writes the picture; False where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)  # inches
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout=layout)
    count, cents = sum(total.orders for total in totals), sum(total.cents for total in totals)
    figure.suptitle(f"A day in the shop: {count:,} orders, {cents / 100:,.0f} EUR", fontsize=15, fontweight="bold")

    _draw_sales(left, totals)
    _draw_hours(right, totals)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    figure.supxlabel(f"from {count:,} messages of a reliableq queue", fontsize=9, color=GREY, x=0.985, ha="right")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True


def _draw_sales(axes: "Axes", totals: list[Total]) -> None:
    products, sales = zip(*reversed(_by_product(totals)), strict=True)
    bars = axes.barh(products, [cents / 100_000 for cents in sales], color=BLUE, height=0.7)
    axes.bar_label(bars, fmt="%.1f", padding=4, color=GREY)
    axes.margins(x=0.1)  # room for the label of the longest
    axes.set_title("Sales by product", loc="left")
    axes.set_xlabel("thousand EUR")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=PALE)


def _draw_hours(axes: "Axes", totals: list[Total]) -> None:
    orders: Counter[int] = Counter()
    for total in totals:
        orders[total.hour] += total.orders
    hours = range(min(orders), max(orders) + 1)
    axes.bar(hours, [orders[hour] for hour in hours], color=ORANGE, width=0.8)
    axes.set_title("Orders by hour", loc="left")
    axes.set_xlabel("hour of the day")
    axes.set_ylabel("orders per hour")
    axes.set_xticks(hours)
    axes.grid(axis="y", color=PALE)


def _by_product(totals: Iterable[Total]) -> list[tuple[str, int]]:
    """Each product and its sales in cents, the largest first."""
    sales: Counter[str] = Counter()
    for total in totals:
        sales[total.product] += total.cents
    return sales.most_common()
