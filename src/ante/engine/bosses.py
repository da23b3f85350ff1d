"""stub"""
from ante.engine.rule import rule
@rule
def boss_after_draw(s, a):
    pass
@rule
def card_face_down_on_draw(s, c):
    return False
